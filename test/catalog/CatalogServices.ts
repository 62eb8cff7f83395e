import { Effect, Layer, Option, Redacted } from "effect"
import { Apps } from "../../src/catalog/Apps.ts"
import * as CatalogContext from "../../src/catalog/CatalogContext.ts"
import { Accounts } from "../../src/identity/Accounts.ts"
