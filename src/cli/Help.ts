import { HelpDoc, Span } from "@effect/cli"
import { settings } from "../Config.ts"

const entries = Object.values(settings)

/** The settings as `gatehouse --help` prints them. */
export const settingsHelp: HelpDoc.HelpDoc = HelpDoc.blocks([
  HelpDoc.p("One program for app subscriptions and chat channels."),
  HelpDoc.p("Settings are environment variables, or lines of a .env file:"),
  HelpDoc.descriptionList(
    entries.map(({ fallback, kind, meaning, name }) => [
      Span.strong(name),
      HelpDoc.p(`${meaning} (${kind}; default: ${fallback})`)
    ])
  )
])
