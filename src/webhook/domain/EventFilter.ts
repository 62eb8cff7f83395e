/** The filters that take an event: `*`, the event itself, and each of its families as `prefix.*`. */
export const filtersTaking = (event: string): ReadonlyArray<string> => {
  const words = event.split(".")
  return ["*", event, ...words.slice(1).map((_, index) => `${words.slice(0, index + 1).join(".")}.*`)]
}
