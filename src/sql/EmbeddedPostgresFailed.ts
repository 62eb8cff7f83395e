import { Data } from "effect"

/** Why there is no embedded database, in one line for the operator. */
export class EmbeddedPostgresFailed extends Data.TaggedError("EmbeddedPostgresFailed")<{ readonly message: string }> {}
