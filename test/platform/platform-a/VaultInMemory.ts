import { type Duration, Effect, Layer, Option, Redacted } from "effect"
import { NotOwner, SessionVault } from "../../../src/platform/SessionVault.ts"

/** Sessions of channels that live no longer than the value; to store credentials takes as long as `busy` says. */
export const makeVault = () => {
  const credentials = new Map<string, string>()
  const keys = new Map<string, string>()
  const epochs = new Map<string, number>()
  const next = (channelId: string) => {
    const epoch = (epochs.get(channelId) ?? 0) + 1
    epochs.set(channelId, epoch)
    return epoch
  }
  const busy: { for: Duration.DurationInput } = { for: 0 }
  const layer = Layer.succeed(
    SessionVault,
    SessionVault.of({
      claim: (channelId) => Effect.sync(() => ({ channelId, epoch: next(channelId) })),
      credentials: (channelId) =>
        Effect.sync(() => Option.map(Option.fromNullable(credentials.get(channelId)), Redacted.make)),
      keys: (channelId, kind, ids) =>
        Effect.sync(() =>
          ids.flatMap((keyId) => {
            const value = keys.get(`${channelId}/${kind}/${keyId}`)
            return value === undefined ? [] : [{ keyId, value: Redacted.make(value) }]
          })
        ),
      keysOfKind: (channelId, kind) =>
        Effect.sync(() =>
          [...keys].flatMap(([place, value]) =>
            place.startsWith(`${channelId}/${kind}/`)
              ? [{ keyId: place.slice(`${channelId}/${kind}/`.length), value: Redacted.make(value) }]
              : []
          )
        ),
      write: ({ channelId, epoch }, changes) =>
        Effect.suspend(() => {
          if (epochs.get(channelId) !== epoch) return new NotOwner({ channelId })
          if (Option.isSome(changes.credentials)) {
            credentials.set(channelId, Redacted.value(changes.credentials.value))
          }
          for (const { keyId, kind, value } of changes.keys) {
            if (value === null) keys.delete(`${channelId}/${kind}/${keyId}`)
            else keys.set(`${channelId}/${kind}/${keyId}`, value)
          }
          return Effect.void
        }).pipe(Option.isSome(changes.credentials) ? Effect.delay(busy.for) : (now) => now),
      forget: (channelId) =>
        Effect.sync(() => {
          next(channelId)
          credentials.delete(channelId)
          for (const place of keys.keys()) if (place.startsWith(`${channelId}/`)) keys.delete(place)
        })
    })
  )
  return { layer, credentials, keys, busy }
}
