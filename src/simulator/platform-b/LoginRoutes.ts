import { randomUUID } from "node:crypto"
import { HttpRouter } from "@effect/platform"
import { Effect, Option } from "effect"
import { makePasswordBox } from "./PasswordBox.ts"
import { asAccount } from "./SignedIn.ts"
import { answerToAll, challenge } from "./Trouble.ts"
import { fail, form, ok } from "./Wire.ts"
import type { SimulatedAccount, World } from "./World.ts"

const nonce = "nonce"
const wrongCode = fail({ message: "Please check the code we sent you and try again." })

/** Password, second factor and challenge. An account's challenge comes before its second factor, and once. */
export const makeLoginRoutes = (world: World) => {
  const passwords = makePasswordBox()

  const user = ({ pk, username }: SimulatedAccount) => ({ logged_in_user: { pk, username, full_name: username } })

  const session = (account: SimulatedAccount) => ({
    "ig-set-authorization": world.signIn(account),
    "x-ig-set-www-claim": "hmac.simulated",
    "ig-set-ig-u-rur": "SIM"
  })

  const secondFactorOf = (account: SimulatedAccount) => {
    const identifier = randomUUID()
    world.secondFactors.set(identifier, account.username)
    const two_factor_info = {
      two_factor_identifier: identifier,
      username: account.username,
      totp_two_factor_on: false,
      sms_two_factor_on: true,
      obfuscated_phone_number: "09"
    }
    return fail({ message: "", error_type: "two_factor_required", two_factor_required: true, two_factor_info })
  }

  const login = Effect.gen(function* () {
    const fields = yield* form
    const account = world.accounts.get(String(fields["username"]))
    if (account === undefined) return fail({ error_type: "invalid_user", message: "No such user." })
    if (!Option.contains(passwords.open(String(fields["enc_password"])), account.password)) {
      return fail({ error_type: "bad_password", message: "The password you entered is incorrect." })
    }
    const trouble = answerToAll(account)
    if (trouble !== undefined) return trouble
    if (account.challengeCode !== undefined && !account.challengePassed) return challenge(account)
    if (account.condition === "logged_out") account.condition = "well"
    return account.twoFactorCode === undefined ? ok(user(account), session(account)) : secondFactorOf(account)
  })

  const secondFactor = Effect.gen(function* () {
    const fields = yield* form
    const account = world.accounts.get(world.secondFactors.get(String(fields["two_factor_identifier"])) ?? "")
    const isRight = account?.twoFactorCode !== undefined && fields["verification_code"] === account.twoFactorCode
    return account !== undefined && isRight && fields["username"] === account.username
      ? ok(user(account), session(account))
      : fail({ error_type: "sms_code_validation_code_invalid", message: "Please check the security code." })
  })

  const challenged = Effect.map(HttpRouter.params, (params) =>
    params["nonce"] === nonce
      ? [...world.accounts.values()].find(({ challengeCode, pk }) => challengeCode !== undefined && pk === params["pk"])
      : undefined
  )

  const stepOf = ({ challengeStep, isCodeSent, pk }: SimulatedAccount) => ({
    step_name: isCodeSent ? "verify_code" : challengeStep,
    step_data: isCodeSent ? { contact_point: "s***@example.com" } : { choice: "1", email: "s***@example.com" },
    user_id: pk,
    nonce_code: nonce
  })

  const showChallenge = Effect.map(challenged, (account) =>
    account === undefined ? fail({ message: "not found" }, 404) : ok(stepOf(account))
  )

  const pass = (account: SimulatedAccount) => {
    account.challengePassed = true
    account.condition = "well"
    return account.challengeSignsIn && account.twoFactorCode === undefined
      ? ok({ action: "close", ...user(account) }, session(account))
      : ok({ action: "close" })
  }

  const answerChallenge = Effect.gen(function* () {
    const account = yield* challenged
    const fields = yield* form
    if (account === undefined) return fail({ message: "not found" }, 404)
    if (fields["choice"] !== undefined) {
      if (account.challengeStep === "delta_login_review") return pass(account)
      account.isCodeSent = true
      return ok(stepOf(account))
    }
    return fields["security_code"] === account.challengeCode ? pass(account) : wrongCode
  })

  const currentUser = asAccount(world)(({ pk, username }) => Effect.succeed(ok({ user: { pk, username } })))

  return HttpRouter.empty.pipe(
    HttpRouter.get("/api/v1/accounts/current_user/", currentUser),
    HttpRouter.post(
      "/api/v1/launcher/sync/",
      Effect.sync(() => ok({}, { ...passwords.headers, "ig-set-x-mid": "simulated-mid" }))
    ),
    HttpRouter.post("/api/v1/accounts/login/", login),
    HttpRouter.post("/api/v1/accounts/two_factor_login/", secondFactor),
    HttpRouter.get("/api/v1/challenge/:pk/:nonce/", showChallenge),
    HttpRouter.post("/api/v1/challenge/:pk/:nonce/", answerChallenge)
  )
}
