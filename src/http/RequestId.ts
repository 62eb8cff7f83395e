import { Effect, Option, Schema } from "effect"
import { nextId } from "../kit/Id.ts"

const Accepted = Schema.decodeUnknownOption(Schema.String.pipe(Schema.pattern(/^[\w.:-]{1,128}$/)))

/** The caller's own id when it sent a valid one, else a new one: on every answer and every log line of the request. */
export const requestIdOf = (header: string | undefined): Effect.Effect<string> =>
  header === undefined ? nextId : Option.match(Accepted(header), { onNone: () => nextId, onSome: Effect.succeed })
