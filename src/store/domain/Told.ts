/**
 * What is said of a field that is missing or wrong: this sentence in place of any that schemas make up, because those
 * quote the value, which may be a secret that was put into the wrong field.
 */
export const told = (sentence: string) => ({
  message: () => ({ message: sentence, override: true }),
  missingMessage: () => sentence
})
