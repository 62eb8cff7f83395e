import { Context, Effect, Layer, type Scope } from "effect"
import { TooMany } from "../api/Problem.ts"

const mostOfAll = 500
const mostOfOne = 20
const comeBackAfter = 15

/** How many streams may stand at one time in this process: each costs a socket and a piece of what it carries. */
export class StreamSlots extends Context.Tag("gatehouse/http/StreamSlots")<
  StreamSlots,
  {
    /** Takes a place for one stream of `reader`, whoever that is, until the scope ends. */
    readonly take: (reader: string) => Effect.Effect<void, TooMany, Scope.Scope>
  }
>() {
  static readonly layer = Layer.sync(StreamSlots, () => {
    const taken = new Map<string, number>()
    let all = 0

    const count = (reader: string, change: 1 | -1) => {
      const own = (taken.get(reader) ?? 0) + change
      all += change
      if (own === 0) taken.delete(reader)
      else taken.set(reader, own)
    }
    const refuse = (message: string) => new TooMany({ message, retryAfter: comeBackAfter })

    const begin = (reader: string) =>
      Effect.suspend(() => {
        if (all >= mostOfAll) return refuse(`At most ${mostOfAll} streams stand at one time.`)
        if ((taken.get(reader) ?? 0) >= mostOfOne)
          return refuse(`At most ${mostOfOne} of these streams stand at one time.`)
        return Effect.sync(() => count(reader, 1))
      })
    return StreamSlots.of({
      take: (reader) => Effect.acquireRelease(begin(reader), () => Effect.sync(() => count(reader, -1)))
    })
  })
}
