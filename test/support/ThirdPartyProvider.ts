import { LLMock } from "@copilotkit/aimock"
import { Effect } from "effect"

/** A chat-completions server that others wrote, with a journal of what it was asked. */
export const start = Effect.acquireRelease(
  Effect.promise(async () => {
    const mock = new LLMock({ port: 0, host: "127.0.0.1" })
    await mock.start()
    return mock
  }),
  (mock) => Effect.promise(() => mock.stop())
)
