const codes = new Set(Intl.supportedValuesOf("currency"))

/** Whether a text is a currency code of ISO 4217, upper-case. */
export const isCurrency = (text: string): boolean => codes.has(text)
