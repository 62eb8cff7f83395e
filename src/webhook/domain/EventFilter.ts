/** Whether an endpoint's `events` take an event: `*`, the event itself, or its family as `prefix.*`. */
export const takes = (filters: ReadonlyArray<string>, event: string): boolean =>
  filters.some(
    (filter) => filter === "*" || filter === event || (filter.endsWith(".*") && event.startsWith(filter.slice(0, -1)))
  )
