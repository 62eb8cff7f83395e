import { Context, type Option, type Redacted } from "effect"

/** The last layer of the AI configuration: the program's own settings (gateway specification, part 2). */
export class AiEnvironment extends Context.Tag("gatehouse/reply/AiEnvironment")<
  AiEnvironment,
  {
    readonly baseUrl: Option.Option<string>
    readonly apiKey: Option.Option<Redacted.Redacted<string>>
    readonly modelName: Option.Option<string>
    readonly systemPrompt: Option.Option<string>
  }
>() {}
