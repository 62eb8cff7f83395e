/** The longest text that a chat takes in one message, in characters: `pb:` and `pbuser:` name chats of platform_b. */
export const longestText = (chatId: string): number => (/^pb(user)?:/.test(chatId) ? 1000 : 4096)

export const isTooLong = ({ body, to }: { readonly to: string; readonly body: string }): boolean =>
  body.length > longestText(to)
