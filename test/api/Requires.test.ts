import { HttpApi, OpenApi } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Context, Option } from "effect"
import { ManagementApi } from "../../src/api/ManagementApi.ts"
import { AccessTokenAuth, Requires } from "../../src/api/Security.ts"

const endpoints = () => {
  const found: Array<{
    readonly name: string
    readonly annotations: Context.Context<never>
    readonly isOpen: boolean
  }> = []
  HttpApi.reflect(ManagementApi, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, middleware }) => {
      const isManaged = [...middleware].some((tag) => tag.key === AccessTokenAuth.key)
      found.push({
        name: `${endpoint.method} ${endpoint.path}`,
        annotations: endpoint.annotations,
        isOpen: !isManaged || group.identifier === "auth"
      })
    }
  })
  return found
}

describe("an endpoint of the management API", () => {
  it("says what it asks for when it takes a token, unless it is about the user's own affairs", () => {
    const managed = endpoints().filter(({ isOpen }) => !isOpen)
    assert.isAbove(managed.length, 20)
    for (const { annotations, name } of managed) {
      const requirement = Context.getOption(annotations, Requires)
      assert.isTrue(Option.isSome(requirement), name)
      const writes = Option.exists(requirement, ({ ability }) => ability.endsWith(":write"))
      if (name.startsWith("GET ")) assert.isFalse(writes, name)
    }
  })

  it("has a summary", () => {
    for (const { annotations, name } of endpoints()) {
      assert.isTrue(Option.isSome(Context.getOption(annotations, OpenApi.Summary)), name)
    }
  })
})
