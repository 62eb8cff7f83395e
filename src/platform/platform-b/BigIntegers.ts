/** A whole string, an unended one included so that broken text costs no second look, or a long integer literal. */
const stringOrBigInteger = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/gs

/** JSON text with integers of 16 and more digits quoted: the platform's ids exceed what a JSON number keeps exactly. */
export const quoteBigIntegers = (json: string): string =>
  json.replace(stringOrBigInteger, (found) => (found.startsWith('"') ? found : `"${found}"`))
