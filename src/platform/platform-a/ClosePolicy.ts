import { Option } from "effect"
import type { ConnectionEnd } from "../domain/PlatformEvent.ts"

/** What each close code of the platform means; any other is trouble that passes. */
const table: { readonly [code: number]: ConnectionEnd } = {
  401: "logged_out",
  402: "banned",
  403: "banned",
  405: "app_version_rejected",
  406: "banned",
  408: "lost",
  411: "relink_required",
  428: "lost",
  429: "slow_down",
  440: "replaced",
  500: "lost",
  503: "lost",
  515: "restart"
}

/**
 * What the end of a connection means. 500 is also the library's word for what it does not know, so nothing is destroyed
 * over it. 408 before the phone has linked us means that nobody scanned. Without a code, we closed it ourselves.
 */
export const endOf = (code: Option.Option<number>, isLinked: boolean): ConnectionEnd =>
  Option.match(code, {
    onNone: () => "stopped",
    onSome: (known) => (known === 408 && !isLinked ? "qr_expired" : (table[known] ?? "lost"))
  })
