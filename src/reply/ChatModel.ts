import { Context, Data, type Duration, type Effect, type Option, type Redacted } from "effect"
import type { ProviderFailureKind } from "./domain/Attempts.ts"
import type { ChatTurn } from "./domain/Conversation.ts"

export interface ChatRequest {
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
  readonly model: string
  readonly turns: ReadonlyArray<ChatTurn>
  readonly temperature: Option.Option<number>
  readonly maxTokens: Option.Option<number>
  /** Covers connecting, headers and body. */
  readonly timeout: Duration.Duration
  /** The same and the wait for its turn before it: the call has ended by then, whatever it waits for. */
  readonly patience: Duration.Duration
}

export interface ChatAnswer {
  readonly reply: string
  /** The model was cut off at `max_tokens`. */
  readonly isCutOff: boolean
  readonly model: string
  readonly promptTokens: Option.Option<number>
  readonly completionTokens: Option.Option<number>
}

/**
 * The provider gave no usable reply. `kind` is a closed list; `message` is the provider's own text, clipped and without
 * the key: for the AI log and the operator, never for the chat.
 */
export class ChatModelFailure extends Data.TaggedError("ChatModelFailure")<{
  readonly kind: ProviderFailureKind
  readonly status: Option.Option<number>
  readonly message: string
  readonly retryAfter: Option.Option<Duration.Duration>
}> {}

/**
 * Port: a chat-completions-compatible provider (gateway specification, part 6, step 4). One call, no retry: the flow
 * decides about repeats.
 */
export class ChatModel extends Context.Tag("gatehouse/reply/ChatModel")<
  ChatModel,
  { readonly complete: (request: ChatRequest) => Effect.Effect<ChatAnswer, ChatModelFailure> }
>() {}
