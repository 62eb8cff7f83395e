/** The longest text that a chat takes in one message, in characters: `pb:` chats are of platform_b. */
export const longestText = (chatId: string): number => (chatId.startsWith("pb:") ? 1000 : 4096)
