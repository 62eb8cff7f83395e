/**
 * Constants of the private API that its owner changes every few weeks: all in one value, so that an outdated one is a
 * matter of configuration. Version, version code and bloks id belong together and must come from one release of the app.
 */
export interface PlatformBConfig {
  readonly baseUrl: string
  readonly appVersion: string
  readonly versionCode: string
  readonly appId: string
  readonly bloksVersionId: string
  /** sdk/release; dpi; resolution; maker; model; device; cpu */
  readonly device: string
  readonly locale: string
}

export const defaults: PlatformBConfig = {
  baseUrl: "https://i.instagram.com",
  appVersion: "428.0.0.47.67",
  versionCode: "961145276",
  appId: "567067343352427",
  bloksVersionId: "7189b949425f9bf80ea8bd880cf5a3080b292d9b1c4b38a18d112f7c4b71e7a8",
  device: "34/14; 480dpi; 1344x2992; Google/google; Pixel 8 Pro; husky; husky",
  locale: "en_US"
}

export const userAgent = ({ appVersion, device, locale, versionCode }: PlatformBConfig): string =>
  `Instagram ${appVersion} Android (${device}; ${locale}; ${versionCode})`
