import { Chunk, Clock, DateTime, Deferred, Duration, Effect, Option, Queue, type Scope } from "effect"
import { type Attempted, Dispatch, type OpenEndpoint } from "../Dispatch.ts"
import * as Circuit from "../domain/Circuit.ts"
import type { DueDelivery, Settlement } from "../domain/Delivery.ts"
import * as Pace from "../domain/Pace.ts"
import { isSuccess } from "../domain/Settle.ts"
import type { EndpointId } from "../domain/Webhook.ts"
import type { Intake } from "./AwakeEndpoints.ts"
import { Holdings } from "./Holdings.ts"
import { Keeping } from "./Keeping.ts"
import * as Lanes from "./Lanes.ts"

const sentAtOnce = 32
/** Rows that are read ahead, and what is kept when it is handed over: this costs no reading, only memory. */
const mostRead = 2048
const mostKept = { rows: 16_384, bytes: 8 * 1024 * 1024 }
const settledAtOnce = 512

/** Between two turns: what comes within it is read, or written back, together. */
const gathering = Duration.millis(10)
/** A row that is due and that nobody could take is not asked for more often than this. */
const shortestRest = Duration.millis(100)

/** Milliseconds that an answer takes, from which on its receiver is not a fast one. */
const slow = 500

/**
 * Sends what is due for one endpoint, for ever: takes a bounded number of rows, attempts some of them at once, writes
 * outcomes back in batches and sleeps until the next row is due or a wake-up says that something changed. Due times are
 * rows, so a crash at any point only repeats attempts. While it is not behind it takes new rows from memory, as they are
 * committed; an endpoint with a measure or an order, or whose circuit is not closed, is served from the table alone. An
 * interrupted loop finishes the attempts under way, at most the endpoint's time-out, and gives back the rest. `listen` is
 * heard, and offers rows, as long as its scope lasts.
 */
export const deliveryLoop = Effect.fn("DeliveryLoop")(function* (
  id: EndpointId,
  listen: (intake: Intake) => Effect.Effect<Queue.Queue<void>, never, Scope.Scope>
) {
  const dispatch = yield* Dispatch
  const clock = yield* Effect.clock
  const outcomes = yield* Queue.bounded<Attempted>(mostKept.rows)
  const held = new Holdings({ least: sentAtOnce, most: mostKept, hold: dispatch.hold, spare: dispatch.spare })
  let target = Option.none<OpenEndpoint>()
  let circuit = Circuit.closed
  let judgements = 0
  let unjudged = 0
  /** There are no failures that a success would have to undo. */
  let isCalm = false
  const keeping = new Keeping()
  /** Moments of the latest attempts, where they are measured. */
  let recent: ReadonlyArray<number> = []
  let ahead = sentAtOnce
  let isWaitingForRoom = false
  /** Rows that are due may be unread, or just being read: new ones have to stand behind them. */
  let isBehind = true
  /** Somebody told of rows that have not been read since. */
  let isTold = false

  const roomToRead = () => held.room(Math.min(ahead, mostRead))
  const hasRoom = () => {
    const { bytes, rows } = roomToRead()
    return held.rows === 0 || (bytes > 0 && (held.rows < sentAtOnce || rows >= Math.min(ahead, mostRead) / 2))
  }
  const measure = () => Option.flatMap(target, ({ endpoint }) => endpoint.maxPerSecond)
  const isFree = () =>
    Option.exists(target, ({ endpoint }) => !endpoint.isOrdered && Option.isNone(endpoint.maxPerSecond)) &&
    Option.isNone(circuit.until)

  yield* dispatch.release(id)
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* keeping.over
      const left = Chunk.toReadonlyArray(yield* Queue.takeAll(outcomes))
      if (left.length > 0) yield* dispatch.settle(id, left)
      yield* dispatch.release(id)
      Array.from(held.ids).forEach((deliveryId) => held.drop(deliveryId))
    })
  )
  /** What was canceled meanwhile is dropped. */
  const begin = (delivery: DueDelivery, isOver: () => void) => {
    if (Option.isSome(target)) {
      dispatch.attempt(target.value, delivery, (attempted) => {
        land(attempted)
        isOver()
      })
      const now = clock.unsafeCurrentTimeMillis()
      if (Option.isSome(measure())) recent = [...Pace.stillCounting(recent, now), now]
      return
    }
    held.drop(delivery.id)
    isOver()
  }
  const lanes = yield* Lanes.make({ width: sentAtOnce, permits: dispatch.permits, begin })
  const wake = yield* listen({
    reserve: (deliveries) => {
      const room = held.room(ahead)
      isBehind ||= isTold || Option.contains(wake.unsafeSize(), 1) || deliveries.length > room.rows || room.bytes <= 0
      if (isBehind || !isFree()) return false
      held.add(deliveries)
      return true
    },
    take: (reserved) => {
      const isOurs = isFree() && reserved.every((delivery) => held.has(delivery.id))
      if (isOurs) lanes.push(reserved)
      else reserved.forEach((delivery) => held.drop(delivery.id))
      return isOurs
    },
    withdraw: (reserved) => reserved.forEach((delivery) => held.drop(delivery.id))
  })

  /** The queue has room for as many outcomes as rows can be in flight. */
  const toJudge = (attempted: Attempted) => {
    unjudged += 1
    outcomes.unsafeOffer(attempted)
  }
  /** A success among successes changes nothing but its row. */
  const land = (attempted: Attempted) => {
    isCalm &&= isSuccess(attempted.outcome.code)
    if (!isCalm || !isFree()) return toJudge(attempted)
    keeping.begin()
    dispatch.keep(attempted, (settlement) => {
      if (Option.isSome(settlement)) {
        held.drop(settlement.value.deliveryId)
        lookAhead([settlement.value])
        if (isWaitingForRoom && hasRoom()) wake.unsafeOffer(undefined)
      } else toJudge(attempted)
      keeping.end()
    })
  }

  /** As far ahead as the receiver is fast: what waits long in memory is more up to date in the table. */
  const lookAhead = (batch: ReadonlyArray<Settlement>) => {
    const isFast = batch.every(({ attempt, state }) => state === "succeeded" && attempt.durationMs < slow)
    ahead = isFast ? Math.min(ahead + batch.length, mostKept.rows) : sentAtOnce
  }

  /** What has not begun goes back to the table, where it waits without being charged an attempt. */
  const giveBack = Effect.suspend(() => {
    isBehind = true
    lanes.clear().forEach((delivery) => held.drop(delivery.id))
    return dispatch.release(id)
  })
  const judge = (settlements: ReadonlyArray<Settlement>) =>
    Effect.gen(function* () {
      const before = circuit
      const codes = settlements.map(({ attempt }) => attempt.code)
      circuit = Circuit.judged(before, codes, yield* DateTime.now)
      if (circuit.pauses === before.pauses && Option.isSome(circuit.until) === Option.isSome(before.until)) return
      judgements += 1
      yield* dispatch.pause(id, circuit)
      judgements += 1
      if (Option.isSome(circuit.until)) yield* giveBack
    })

  const writeBack = (batch: ReadonlyArray<Attempted>) =>
    Effect.gen(function* () {
      const { isOver, settlements } = yield* dispatch.settle(id, batch)
      unjudged -= batch.length
      settlements.forEach(({ deliveryId }) => held.drop(deliveryId))
      lookAhead(settlements)
      yield* judge(settlements)
      if (isOver) target = Option.none()
      const isDueAgain = settlements.some(({ dueAt }) => Option.isSome(dueAt))
      if (isOver || isDueAgain || !isCalm || !isFree() || (isWaitingForRoom && hasRoom()))
        yield* Queue.offer(wake, undefined)
    })
  const settle = Queue.takeBetween(outcomes, 1, settledAtOnce).pipe(
    Effect.flatMap((batch) => Effect.uninterruptible(writeBack(Chunk.toReadonlyArray(batch)))),
    Effect.zipRight(Effect.sleep(gathering))
  )

  const told = Effect.tap(Queue.take(wake), () => Effect.sync(() => (isTold = true)))
  const wakeWithin = (pause: Duration.Duration) => Effect.asVoid(Effect.timeoutOption(told, pause))

  /** While there is no room to read, handing over may go on only as long as nothing older waits for that room. */
  const isLeftBehind = (endpoint: OpenEndpoint["endpoint"]) =>
    Effect.gen(function* () {
      const next = yield* dispatch.nextDue(endpoint, held.ids)
      return Option.exists(next, DateTime.lessThanOrEqualTo(yield* DateTime.now))
    })

  const rest = (endpoint: OpenEndpoint["endpoint"]) =>
    Effect.gen(function* () {
      const next = yield* dispatch.nextDue(endpoint, held.ids)
      if (Option.isNone(next)) return yield* told
      const wait = DateTime.distanceDuration(yield* DateTime.now, next.value)
      const isPast = DateTime.lessThan(next.value, yield* DateTime.now)
      yield* wakeWithin(isPast ? shortestRest : Duration.max(wait, shortestRest))
    })

  /** How many rows may be taken now; none while the target is spared, or has had its measure. */
  const allowed = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { rows } = roomToRead()
    switch (Circuit.stateAt(circuit, DateTime.unsafeMake(now))) {
      case "open":
        return 0
      case "half_open":
        return held.rows === 0 ? 1 : 0
      case "closed":
        return Option.match(measure(), {
          onNone: () => rows,
          onSome: (most) => Math.min(rows, Pace.allowance(recent, lanes.waiting, most, now))
        })
    }
  })
  const untilAllowed = Effect.gen(function* () {
    const now = yield* DateTime.now
    const pause = Option.match(circuit.until, {
      onNone: () => Duration.millis(Pace.nextIn(recent, now.epochMillis)),
      onSome: (until) => DateTime.distanceDuration(now, DateTime.max(until, now))
    })
    yield* held.rows > 0 && Duration.toMillis(pause) === 0 ? told : wakeWithin(pause)
  })

  const take = Effect.fn("DeliveryLoop.take")(function* (endpoint: OpenEndpoint["endpoint"], most: number) {
    isBehind = true
    isTold = false
    const room = { rows: most, bytes: roomToRead().bytes }
    const due = yield* dispatch.claim(endpoint, room, held.ids)
    if (Circuit.stateAt(circuit, yield* DateTime.now) === "open") return yield* dispatch.release(id)
    held.add(due)
    lanes.push(due)
    const bytes = due.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
    if (due.length === most || (due.length > 0 && bytes >= room.bytes)) return
    isBehind = false
    yield* Effect.sleep(gathering)
    yield* rest(endpoint)
  })

  const turn = Effect.gen(function* () {
    const judgementsBefore = judgements
    target = Option.filter(yield* dispatch.open(id), ({ endpoint }) => endpoint.isActive)
    if (Option.isNone(target)) {
      yield* dispatch.cancel(id)
      return yield* told
    }
    const { endpoint } = target.value
    if (judgements === judgementsBefore) {
      circuit = { failures: circuit.failures, pauses: endpoint.pauses, until: endpoint.pausedUntil }
    }
    isCalm = unjudged === 0 && circuit.failures === 0 && Option.isNone(endpoint.failingSince)
    isWaitingForRoom = !hasRoom()
    if (isWaitingForRoom) {
      isBehind ||= yield* isLeftBehind(endpoint)
      isTold = false
      return yield* isBehind ? told : rest(endpoint)
    }
    const most = yield* allowed
    if (most > 0) return yield* take(endpoint, most)
    isBehind = true
    yield* untilAllowed
  })

  return yield* Effect.raceFirst(
    Deferred.await(lanes.crashed),
    Effect.all([Effect.forever(settle), Effect.forever(turn)], { concurrency: 2, discard: true })
  )
}, Effect.scoped)
