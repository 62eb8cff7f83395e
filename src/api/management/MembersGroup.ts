import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Role } from "../../identity/domain/Ability.ts"
import { Email } from "../../identity/domain/Email.ts"
import { data, Deleted, fields, list, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { tenantPath } from "./TenantsGroup.ts"

const memberRole = Role.annotations({
  description:
    "`owner`: all. `admin`: all but deleting the workspace and changing owners. `member`: all but credentials, members " +
    "and deleting apps. `viewer`: reads, without secrets"
})

export const Member = Schema.Struct({
  uuid: Schema.String.annotations({ description: "The user's" }),
  name: Schema.String,
  email: Schema.String,
  role: memberRole,
  created_at: Timestamp.annotations({ description: "When the user joined" })
}).annotations({
  identifier: "Member",
  examples: [
    {
      uuid: "019a9a41-33c8-7b9a-a1d4-0c8e5f2b7d60",
      name: "Ben",
      email: "ben@example.com",
      role: "member",
      created_at: "2026-03-02T08:00:00.000Z"
    }
  ]
})

const userPath = HttpApiSchema.param("user", Schema.String.annotations({ description: "uuid of the user" }))

export class MembersGroup extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("listMembers")`/tenants/${tenantPath}/members`
      .setUrlParams(PageQuery)
      .addSuccess(list(Member))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:read"))
      .annotate(OpenApi.Summary, "List the members of a workspace")
  )
  .add(
    HttpApiEndpoint.post("addMember")`/tenants/${tenantPath}/members`
      .setPayload(
        fields({
          email: Email.annotations({ description: "Of a user who has registered; 422 for any other" }),
          role: memberRole
        })
      )
      .addSuccess(data(Member), { status: 201 })
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:write", "admin"))
      .annotate(OpenApi.Summary, "Take a user into a workspace")
      .annotate(OpenApi.Description, "Only an owner adds an owner (403). 409 for a user who is a member already.")
  )
  .add(
    HttpApiEndpoint.patch("updateMember")`/tenants/${tenantPath}/members/${userPath}`
      .setPayload(fields({ role: Schema.optionalWith(memberRole, { exact: true }) }))
      .addSuccess(data(Member))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("tenants:write", "admin"))
      .annotate(OpenApi.Summary, "Change the role of a member")
      .annotate(
        OpenApi.Description,
        "Only an owner makes or changes owners (403). The last owner keeps the role (409): make another one first."
      )
  )
  .add(
    HttpApiEndpoint.del("removeMember")`/tenants/${tenantPath}/members/${userPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotateContext(requires("tenants:write", "viewer"))
      .annotate(OpenApi.Summary, "Take a member out of a workspace, or leave it")
      .annotate(
        OpenApi.Description,
        "Everyone may leave; an admin removes others, and only an owner removes owners (403). The last owner stays (409)."
      )
  )
  .middleware(AccessTokenAuth) {}
