import { plainText } from "./Conversation.ts"
import { handOffIn } from "./ManagerAlert.ts"
import { wholeSentences } from "./WholeSentences.ts"

/** What is said in the chat of a model's answer: plain text, without the mark of a hand-off, in whole sentences. */
export const spokenReply = (
  { isCutOff, reply }: { readonly reply: string; readonly isCutOff: boolean },
  handsOff: boolean
): { readonly text: string; readonly isHandOff: boolean } => {
  const plain = plainText(reply)
  const { isHandOff, text } = handsOff ? handOffIn(plain) : { isHandOff: false, text: plain.trim() }
  return { isHandOff, text: isCutOff && text !== "" ? wholeSentences(text) : text }
}
