import { Array, Config, ConfigError, Either, Option, Redacted } from "effect"

export interface SettingDoc {
  readonly name: string
  readonly kind: string
  readonly fallback: string
  readonly meaning: string
}

export interface Setting<A> extends SettingDoc {
  readonly config: Config.Config<A>
}

export const setting = <A>(
  name: string,
  kind: string,
  fallback: string,
  meaning: string,
  read: (config: Config.Config<string>) => Config.Config<A>
): Setting<A> => ({ name, kind, fallback, meaning, config: read(Config.nonEmptyString(name)) })

const checked =
  <A>(must: string, parse: (text: string) => Option.Option<A>) =>
  (config: Config.Config<string>): Config.Config<A> =>
    Config.mapOrFail(config, (text) =>
      Either.fromOption(parse(text), () => ConfigError.InvalidData([], `must be ${must}`))
    )

export const wholeNumber = (minimum: number, maximum: number) =>
  checked(`a whole number from ${minimum} to ${maximum}`, (text) =>
    Option.filter(Option.some(Number(text)), (n) => /^\d+$/.test(text) && n >= minimum && n <= maximum)
  )

export const oneOf = <const Choices extends ReadonlyArray<string>>(...choices: Choices) =>
  checked<Choices[number]>(choices.join(" or "), (text) => Array.findFirst(choices, (choice) => choice === text))

export const flag = (config: Config.Config<string>) =>
  Config.map(oneOf("true", "false")(config), (text) => text === "true")

const url = (...protocols: ReadonlyArray<string>) =>
  checked(`a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`, (text) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol) ? Option.some(text) : Option.none()
  )

export const httpUrl = url("http:", "https:")
export const socketUrl = url("ws:", "wss:")

/** Three numbers with dots between them. */
export const version = checked("three whole numbers with dots between them", (text) => {
  const [major, minor, patch, ...more] = text.split(".").map(Number)
  const isVersion = /^\d+\.\d+\.\d+$/.test(text) && more.length === 0
  return isVersion && major !== undefined && minor !== undefined && patch !== undefined
    ? Option.some<[number, number, number]>([major, minor, patch])
    : Option.none()
})
export const secretUrl =
  (...protocols: ReadonlyArray<string>) =>
  (config: Config.Config<string>) =>
    Config.map(url(...protocols)(config), (text) => Redacted.make(text))

export const optional =
  <A>(read: (config: Config.Config<string>) => Config.Config<A>) =>
  (config: Config.Config<string>) =>
    Config.option(read(config))

export const otherwise =
  <A>(read: (config: Config.Config<string>) => Config.Config<A>, value: A) =>
  (config: Config.Config<string>) =>
    Config.withDefault(read(config), value)

export const text = (config: Config.Config<string>) => config
export const secretText = (config: Config.Config<string>) => Config.map(config, (value) => Redacted.make(value))

export const encryptionKeys = checked<Array.NonEmptyReadonlyArray<Redacted.Redacted<Buffer>>>(
  "base64 of 32 bytes, or several of them separated by commas",
  (list) => {
    const keys = list.split(",").map((part) => Buffer.from(part.trim(), "base64"))
    const sealed: ReadonlyArray<Redacted.Redacted<Buffer>> = keys.map((key) => Redacted.make(key))
    return keys.every((key) => key.length === 32) && Array.isNonEmptyReadonlyArray(sealed)
      ? Option.some(sealed)
      : Option.none()
  }
)

export const jwtSecret = checked("at least 32 bytes long", (value) =>
  Buffer.byteLength(value) >= 32 ? Option.some(Redacted.make(value)) : Option.none()
)

export const email = checked("an e-mail address", (value) =>
  /^[^\s@]+@[^\s@]+$/.test(value) ? Option.some(value) : Option.none()
)

export const paths = (config: Config.Config<string>) =>
  Config.map(config, (list) =>
    list
      .split(",")
      .map((path) => path.trim())
      .filter((path) => path !== "")
  )
