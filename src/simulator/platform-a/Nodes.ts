import type { BinaryNode } from "baileys"

/** Where the platform's own stanzas come from. */
export const server = "@s.whatsapp.net"

export const node = (tag: string, attrs: BinaryNode["attrs"] = {}, content?: BinaryNode["content"]): BinaryNode => ({
  tag,
  attrs,
  ...(content === undefined ? {} : { content })
})

export const children = (parent: BinaryNode | undefined): ReadonlyArray<BinaryNode> =>
  Array.isArray(parent?.content) ? parent.content : []

export const child = (parent: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  children(parent).find((candidate) => candidate.tag === tag)

export const bytesOf = (of: BinaryNode | undefined): Buffer =>
  of?.content instanceof Uint8Array ? Buffer.from(of.content) : Buffer.alloc(0)

/** The present, as stanzas have it. */
export const seconds = () => String(Math.floor(Date.now() / 1000))
