import { Command } from "@effect/cli"
import { version } from "../http/Version.ts"
import { demoCommand } from "./Demo.ts"
import { doctorCommand } from "./Doctor.ts"
import { healthcheckCommand } from "./Healthcheck.ts"
import { settingsHelp } from "./Help.ts"
import { migrateCommand } from "./Migrate.ts"
import { openapiCommand } from "./OpenApiDocuments.ts"
import { operatorCommand } from "./Operator.ts"
import { schemaCommand } from "./Schema.ts"
import { serveCommand } from "./Serve.ts"
import { simulateCommand } from "./Simulate.ts"

const gatehouse = Command.make("gatehouse").pipe(
  Command.withDescription(settingsHelp),
  Command.withSubcommands([
    serveCommand,
    migrateCommand,
    operatorCommand,
    simulateCommand,
    demoCommand,
    doctorCommand,
    healthcheckCommand,
    openapiCommand,
    schemaCommand
  ])
)

export const cli = Command.run(gatehouse, { name: "Gatehouse", version, executable: "gatehouse" })
