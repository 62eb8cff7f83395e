import { type Duration, Option } from "effect"

/** What changes with the platform's own releases, and where it is. */
export interface PlatformAConfig {
  readonly url: string
  /** The release of the web client that we say we are; the platform refuses old ones. */
  readonly version: [number, number, number]
  /** What the phone shows in its list of linked devices. */
  readonly browser: [string, string, string]
  /** How long each QR code is shown; as long as the platform's own client does, when none is given. */
  readonly qrLives: Option.Option<Duration.Duration>
}

export const defaults: PlatformAConfig = {
  url: "wss://web.whatsapp.com/ws/chat",
  version: [2, 3000, 1043857760],
  browser: ["Mac OS", "Chrome", "14.4.1"],
  qrLives: Option.none()
}
