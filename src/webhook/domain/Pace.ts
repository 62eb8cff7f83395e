const second = 1000

/**
 * How many attempts may begin now so that no second sees more than `most`: `recent` are the moments of the latest ones in
 * milliseconds, oldest first, and `waiting` those that will begin without asking again.
 */
export const allowance = (recent: ReadonlyArray<number>, waiting: number, most: number, now: number): number =>
  Math.max(0, most - waiting - recent.filter((moment) => moment > now - second).length)

/** The moments that count from now on. */
export const stillCounting = (recent: ReadonlyArray<number>, now: number): ReadonlyArray<number> =>
  recent.filter((moment) => moment > now - second)

/** Milliseconds until the oldest moment stops counting. */
export const nextIn = (recent: ReadonlyArray<number>, now: number): number => {
  const [oldest] = stillCounting(recent, now)
  return oldest === undefined ? 0 : oldest + second - now
}
