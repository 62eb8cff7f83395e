import { Conflict, type FieldErrors, Invalid, NotFound } from "../api/Problem.ts"
import type { IdentifierBought, IdentifierTaken, ProductUnfit, UnknownIdentifiers } from "./CatalogErrors.ts"

/** How the catalogue's refusals read on the wire. */

export const invalid = (errors: FieldErrors) => new Invalid({ message: "The given data was invalid.", errors })

export const taken = ({ identifier }: IdentifierTaken) =>
  new Conflict({ message: "The identifier is taken.", errors: { identifier: [`"${identifier}" is taken`] } })

export const bought = ({ identifier }: IdentifierBought) =>
  new Conflict({
    message: "Something was bought under the identifier: it stays.",
    errors: { identifier: [`"${identifier}" was bought`] }
  })

export const unfit = ({ faults }: ProductUnfit) =>
  invalid(Object.fromEntries(faults.map(({ field, sentence }) => [field, [sentence]])))

export const unknownNames =
  (field: string) =>
  ({ positions }: UnknownIdentifiers) =>
    invalid(Object.fromEntries(positions.map((position) => [`${field}.${position}`, ["names nothing in this app"]])))

export const gone = (kind: string) => () => new NotFound({ message: `No such ${kind}.` })
