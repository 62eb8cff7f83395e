/** Integer micros by ISO 4217 code. Currencies are never added to each other. */
export type Amounts = { readonly [currency: string]: number }

/** A sum by currency that grows; integers far below 2^53. */
export class Sum {
  private readonly byCurrency = new Map<string, number>()

  add(currency: string, micros: number): void {
    this.byCurrency.set(currency, (this.byCurrency.get(currency) ?? 0) + micros)
  }

  /** In the order of the codes. */
  get amounts(): Amounts {
    return Object.fromEntries([...this.byCurrency].sort(([left], [right]) => (left < right ? -1 : 1)))
  }
}
