import { DateTime, Option, Schema } from "effect"
import { PlatformName } from "../../platform/domain/PlatformEvent.ts"
import { defaultPacing, Pacing } from "./Pacing.ts"

export const ChannelId = Schema.UUID.pipe(Schema.brand("ChannelId"))
export type ChannelId = typeof ChannelId.Type

/** Contract, part 4, "Accounts (channels)". Only `connected` channels have a live actor. */
export const ChannelStatus = Schema.Literal(
  "disconnected",
  "connecting",
  "qr_required",
  "two_factor_required",
  "challenge_required",
  "connected",
  "error"
)
export type ChannelStatus = typeof ChannelStatus.Type

const absent = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.propertySignature(Schema.OptionFromNullOr(schema)).pipe(Schema.withConstructorDefault(() => Option.none<A>()))

/** A chat channel, called account on the wire. Its session is not part of it: only the actor opens that. */
export class Channel extends Schema.Class<Channel>("Channel")({
  id: ChannelId,
  name: Schema.String,
  platform: PlatformName,
  status: ChannelStatus,
  username: Schema.OptionFromNullOr(Schema.String),
  lastError: Schema.OptionFromNullOr(Schema.String),
  connectedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  lastSyncedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  /** Neither polls nor sends before this: the platform asked to slow down. */
  pausedUntil: absent(Schema.DateTimeUtcFromDate),
  /** Sends nothing before this: the platform blocked it as an action. */
  frozenUntil: absent(Schema.DateTimeUtcFromDate),
  /** The channel's own, where it has one. */
  pacing: absent(Schema.parseJson(Pacing)),
  createdAt: Schema.DateTimeUtcFromDate
}) {
  get paces(): Pacing {
    return Option.getOrElse(this.pacing, () => defaultPacing(this.platform))
  }
}

const iso = (moment: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(moment, DateTime.formatIso))

const ahead = (moment: Option.Option<DateTime.Utc>, now: DateTime.Utc) =>
  iso(Option.filter(moment, DateTime.greaterThan(now)))

/** The account record in wire form. */
export const accountItem = (channel: Channel, now: DateTime.Utc) => ({
  id: channel.id,
  name: channel.name,
  platform: channel.platform,
  status: channel.status,
  username: Option.getOrNull(channel.username),
  last_error: Option.getOrNull(channel.lastError),
  connected_at: iso(channel.connectedAt),
  last_synced_at: iso(channel.lastSyncedAt),
  paused_until: ahead(channel.pausedUntil, now),
  frozen_until: ahead(channel.frozenUntil, now),
  created_at: DateTime.formatIso(channel.createdAt)
})

/** `data` of `connection.*` events. */
export const connectionData = (channel: Channel) => ({
  account_id: channel.id,
  platform: channel.platform,
  status: channel.status,
  reason: Option.getOrNull(channel.lastError)
})
