import { HelpDoc, Span } from "@effect/cli"
import { settings } from "../Config.ts"
import type { SettingDoc } from "../Setting.ts"

const { port, ...others } = settings

const entry = ({ fallback, kind, meaning, name }: SettingDoc): [Span.Span, HelpDoc.HelpDoc] => [
  Span.strong(name),
  HelpDoc.p(`${meaning} (${kind}; default: ${fallback})`)
]

/** The settings as `gatehouse --help` prints them. */
export const settingsHelp: HelpDoc.HelpDoc = HelpDoc.blocks([
  HelpDoc.p("One program for app subscriptions and chat channels."),
  HelpDoc.p("Settings are environment variables, or lines of a .env file:"),
  HelpDoc.descriptionList([entry(port), ...Object.values(others).map(entry)])
])
