import type { Load } from "../Dispatch.ts"
import type { DueDelivery } from "../domain/Delivery.ts"
import type { DeliveryId } from "../domain/Webhook.ts"

export interface HoldingsOptions {
  /** What the lanes can take at once is always there, in rows; more only while all loops together have room. */
  readonly least: number
  readonly most: Load
  readonly hold: (load: Load) => void
  readonly spare: () => Load
}

/** What a loop has in memory, in rows and in bytes of bodies. */
export class Holdings {
  readonly #options: HoldingsOptions
  readonly #held = new Map<DeliveryId, number>()
  #bytes = 0

  constructor(options: HoldingsOptions) {
    this.#options = options
  }

  get ids(): Iterable<DeliveryId> {
    return this.#held.keys()
  }

  get rows() {
    return this.#held.size
  }

  has(id: DeliveryId) {
    return this.#held.has(id)
  }

  add(deliveries: ReadonlyArray<DueDelivery>) {
    for (const { body, id } of deliveries) this.#set(id, body.length)
  }

  drop(id: DeliveryId) {
    const bytes = this.#held.get(id)
    if (bytes === undefined) return
    this.#held.delete(id)
    this.#count({ rows: -1, bytes: -bytes })
  }

  /** Room for more, while at most so many rows are wanted. */
  room(wanted: number): Load {
    const { least, most, spare } = this.#options
    const others = spare()
    return {
      rows: Math.min(wanted - this.rows, Math.max(least - this.rows, others.rows)),
      bytes: Math.min(most.bytes - this.#bytes, others.bytes)
    }
  }

  #set(id: DeliveryId, bytes: number) {
    this.drop(id)
    this.#held.set(id, bytes)
    this.#count({ rows: 1, bytes })
  }

  #count(load: Load) {
    this.#bytes += load.bytes
    this.#options.hold(load)
  }
}
