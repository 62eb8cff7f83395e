/**
 * Constants of the private API that its owner changes every few weeks: all in one value, so that an outdated one is a
 * matter of configuration.
 */
export interface PlatformBConfig {
  readonly baseUrl: string
  readonly appVersion: string
  readonly versionCode: string
  readonly appId: string
  readonly bloksVersionId: string
  readonly device: string
  readonly locale: string
}

export const defaults: PlatformBConfig = {
  baseUrl: "https://i.instagram.com",
  appVersion: "428.0.0.47.67",
  versionCode: "961112873",
  appId: "567067343352427",
  bloksVersionId: "5d6b6b7d4f6c0b1d2f3a4e5c6b7a8990ab5d8a1c2e3f4051627384950617283a",
  device: "34/14; 480dpi; 1080x2400; samsung; SM-S911B; dm1q; qcom",
  locale: "en_US"
}

export const userAgent = ({ appVersion, device, locale, versionCode }: PlatformBConfig): string =>
  `Instagram ${appVersion} Android (${device}; ${locale}; ${versionCode})`
