import { DateTime, Effect, Layer } from "effect"
import { AppHistory } from "../catalog/AppHistory.ts"
import type { App } from "../catalog/domain/App.ts"
import { namesOf } from "../catalog/domain/Product.ts"
import { nextId } from "../kit/Id.ts"
import { Endpoints } from "../webhook/Endpoints.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AppHistoryRepo } from "./AppHistoryRepo.ts"
import { Events } from "./Events.ts"

/** What the catalogue asks and tells, answered from customers, purchases, domain events and webhooks. */
export const layer = Layer.effect(
  AppHistory,
  Effect.gen(function* () {
    const history = yield* AppHistoryRepo
    const events = yield* Events
    const outbox = yield* Outbox
    const endpoints = yield* Endpoints

    const told = Effect.fn("RecordedHistory.keyRotated")(function* (app: App) {
      yield* events.recordOfApp(app.id, {
        cause: `app.key_rotated:${yield* nextId}`,
        type: "app.key_rotated",
        data: { app_uuid: app.id, public_api_key: app.publicApiKey, rotated_at: DateTime.formatIso(app.updatedAt) }
      })
    })

    return AppHistory.of({
      hasCustomers: history.hasCustomers,
      isBought: (appId, products) =>
        Effect.map(history.sold(appId), (sold) =>
          sold.some((one) =>
            products.some(
              ({ identifier, store }) =>
                store === one.store && namesOf(store, one.productIdentifier).includes(identifier)
            )
          )
        ),
      keyRotated: (change) => outbox.transaction(Effect.tap(change, told)),
      forgotten: (appId, deletion) => outbox.transaction(Effect.zipLeft(deletion, endpoints.removeOf(appId)))
    })
  })
).pipe(Layer.provide(AppHistoryRepo.Default), Layer.provide(Events.layer))
