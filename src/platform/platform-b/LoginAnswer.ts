import { Schema } from "effect"
import { FailureBody } from "./Failures.ts"
import { Id, perhaps } from "./Fields.ts"
import type { SessionState } from "./SessionState.ts"

const SignedIn = Schema.Struct({ pk: Id, username: Schema.String })
export type SignedIn = typeof SignedIn.Type

/** What login, second factor and challenge calls answer; which fields are there tells what comes next. */
export const LoginAnswer = Schema.Struct({
  ...FailureBody.fields,
  logged_in_user: perhaps(SignedIn),
  two_factor_required: perhaps(Schema.Boolean),
  two_factor_info: perhaps(
    Schema.Struct({
      two_factor_identifier: Schema.String,
      totp_two_factor_on: perhaps(Schema.Boolean),
      sms_two_factor_on: perhaps(Schema.Boolean)
    })
  ),
  step_name: perhaps(Schema.String),
  step_data: perhaps(
    Schema.Struct({
      choice: perhaps(Schema.String),
      contact_point: perhaps(Schema.String),
      email: perhaps(Schema.String),
      phone_number: perhaps(Schema.String)
    })
  ),
  action: perhaps(Schema.String)
})
export type LoginAnswer = typeof LoginAnswer.Type

export const deviceForm = (state: SessionState) => ({ guid: state.guid, device_id: state.deviceId })
