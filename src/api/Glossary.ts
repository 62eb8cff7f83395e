import { Predicate, Record } from "effect"

type Json = { readonly [name: string]: unknown }

/** What a field means wherever it stands, unless it says something of its own or is told apart below. */
const everywhere: { readonly [field: string]: string } = {
  uuid: "Id of the record, a UUID of version 7: ids sort by time",
  id: "Id of the record, a UUID of version 7: ids sort by time",
  name: "For people; it identifies nothing",
  created_at: "When the record was made, UTC",
  updated_at: "When the record changed last, UTC",
  expires_at: "From then on it is not accepted",
  data: "What was asked for",
  deleted: "Always true",
  revoked: "Always true",
  email: "E-mail address; upper and lower case are the same",
  tenant_uuid: "The workspace",
  app_user_id: "The customer, by the app's own name for the person",
  user_uuid: "The user who did it",
  billing_email: "Where invoices go; a note of the company's own",
  plan: "A label of the company's own; no limit hangs on it",
  abilities: "What the token may do",
  roles: "The user's role in each workspace",
  role: "`owner`, `admin`, `member` or `viewer`",
  bundle_id: "The app in store A",
  package_name: "The app in store B",
  platforms: "The stores that the app is sold in",
  transfer_behavior:
    "What becomes of a purchase that a second customer proves by a receipt: it moves there, or the receipt is refused",
  store: "The store, by its neutral name",
  platform: "The store or the chat platform, by its neutral name",
  environment: "`sandbox` purchases never count into money",
  identifier: "What code refers to, unique of its kind in the app",
  product_identifier: "The product as its store knows it",
  entitlement_identifier: "The entitlement, by its identifier",
  price: "Decimal number in major units of `currency`, exact",
  currency: "ISO 4217",
  subscription_period: "ISO 8601 duration such as P1M; null for what is no subscription",
  package_type: "How long the product runs, for an SDK that shows packages by length",
  is_current: "Whether it is the one that an SDK shows unless told otherwise",
  packages: "What the offering offers",
  products: "The products of the app",
  entitlements: "What products unlock",
  offerings: "What the app offers to buy",
  purchase_date: "When the current period, or the purchase, began",
  original_purchase_date: "When the chain of periods began",
  expires_date: "When the period ends or ended; null: never",
  grace_period_expires_date: "Until then a failed payment does not end access; null without a grace period",
  unsubscribe_detected_at: "When renewal was seen to be switched off; null while it is on",
  billing_issues_detected_at: "When a payment was seen to fail; null once it is paid",
  refunded_at: "When the store gave the money back; null otherwise",
  revoked_at: "When it was taken back; null while it holds",
  auto_resume_date: "When a paused subscription goes on by itself; null without a pause",
  will_renew: "Whether another period follows unless something changes",
  pending_product_identifier: "The product that the next period changes to; null for no change",
  period_type: "`trial` is free, `intro` and `promotional` are at a lower price",
  ownership_type: "`family_shared` gives access and no money",
  store_transaction_id: "The store's own id of the period's payment",
  original_transaction_id: "The store's own id of the whole chain",
  subscription_uuid: "The subscription that it concerns; null for none",
  first_seen: "When the customer was heard of first, UTC",
  last_seen: "When the customer was heard of last, UTC; exact to 15 minutes",
  events: "Names of events; `*` is all, `message.*` all that begin so",
  url: "Where attempts go",
  max_per_second: "Attempts that may begin in any second; null: no limit of its own",
  ordered: "Whether an event waits for the one before it of the same chat or customer",
  payload: "The body that is sent, fixed when the event was made",
  attempts: "What was tried, oldest first",
  error: "What went wrong, for a person; null for nothing",
  response_status: "HTTP status; null where no answer came",
  started_at: "When it began, UTC",
  webhook_id: "The webhook",
  next_attempt_at: "When it is tried next; null when no attempt is due",
  account_id: "The channel",
  chat_id: "The chat: a jid on platform_a, `pb:<thread_id>` on platform_b",
  chat_type: "`private`, `group` or `channel`",
  message_id: "Id of the message in this program",
  username: "The account's own name on its platform; null until it was connected",
  last_error: "Why the channel does not work; null while it does",
  connected_at: "Since when the channel is connected; null while it is not",
  last_synced_at: "When the platform was heard last; null before",
  qr_expires_at: "When another QR code takes its place",
  pairing_code_expires_at: "When the code cannot be typed any more",
  checked_at: "When the store was asked",
  gap_seconds: "Shortest and longest pause between two messages, drawn anew each time",
  per_minute: "Messages in any minute; null: no cap",
  per_hour: "Messages in any hour; null: no cap",
  per_day: "Messages in any day; null: no cap",
  new_chats_per_day: "Chats that the channel may open in any day; null: no cap",
  is_blocked: "The AI answers nothing in a blocked chat",
  enabled: "A switch of this layer; null says yes",
  base_url: "The provider: `/chat/completions` is appended",
  api_key: "The provider's key: absent keeps it, null deletes it; never shown",
  has_api_key: "Whether a key is kept in this layer",
  model_name: "The provider's name of the model",
  temperature: "0 to 2; null leaves it to the layer below, or to the provider",
  max_tokens: "Longest reply in tokens, 1 to 32768; null leaves it to the layer below, or to the provider",
  timeout_seconds: "For one call of the provider, its body included; 30 unless set",
  reply_delay_seconds: "How long a reply waits, typing, before it is sent; 2 unless set",
  reply_to_private: "Whether private chats are answered",
  reply_to_groups: "Whether groups are answered",
  reply_to_channels: "Whether channels are answered",
  echo_mode: "The reply is the incoming text; no provider is called and no key is needed",
  system_prompt: "What the model is told before the conversation; null inherits",
  default_system_prompt: "What the model is told before the conversation, where no layer above says another",
  custom_system_prompt: "What the model is told before the conversation of this chat; null inherits",
  business_knowledge: "Facts that the model may use, given to it as data and not as orders",
  manager_alerts:
    "Who is told when a keyword appears or the AI hands over, about a chat at most once each in 15 minutes; null for nobody",
  keywords: "Words of a customer that alert, whatever their case",
  debounce_seconds: "One reply for a burst of messages, so long after the last of them; 0: a reply for each",
  human_takeover_minutes: "How long the AI is silent in a chat after a person wrote there; 0: off",
  mode: "`inherit` says yes where account and global do, `disabled` says no; `enabled` lifts no other switch",
  layer: "The layer that the value comes from",
  value: "What is in force",
  global: "The switch of all accounts",
  account: "The account's switch; null says yes",
  chat: "The chat's mode",
  usage: "What the provider counted; null where it does not say",
  prompt_tokens: "Tokens of the question; null where the provider does not say",
  completion_tokens: "Tokens of the reply; null where the provider does not say",
  latency_ms: "How long the provider took, in milliseconds; null where none was asked",
  reply: "The text of the reply; null for none",
  reply_message_id: "The first message that the reply was sent as; null while there is none"
}

/** What a field means in one record or one operation. */
const apart: { readonly [place: string]: string } = {
  "App.slug": "Made from the name at creation, unique in the workspace, and kept for ever",
  "App.status": "`paused`: client endpoints answer 403. `archived`: notifications are refused too (404)",
  "Customer.app_user_id": "The app's own name for the person",
  "Subscriber.app_user_id": "The app's own name for the person",
  "Subscriber.is_anonymous": "Whether the id begins with `$anonymous:` or `$RCAnonymousID:`",
  "Product.type": "What is sold: something that renews, runs out, is used up, or stays",
  "createProduct.type": "What is sold: something that renews, runs out, is used up, or stays",
  "updateProduct.type": "What is sold: something that renews, runs out, is used up, or stays",
  "bootstrap.type": "What is sold: something that renews, runs out, is used up, or stays",
  "bootstrap.app": "The app: found by `uuid`, `slug`, `bundle_id`, `package_name`, then the slug of its name, or made",
  "Grant.is_active": "Whether it gives access now: neither revoked nor past `expires_date`",
  "Happening.kind": "Which of the three it is",
  "DomainEvent.type": "Name of the event, as webhooks filter by it",
  "Stats.series": "The same figures day by day: three lists of one length",
  "Subscription.status":
    "`trialing`, `active`: the period runs and will renew; `canceled`: it runs, renewal is off; `in_grace_period`: payment " +
    "failed, access goes on; `in_billing_retry`, `on_hold`: payment failed, no access; `paused_pending`: a pause is " +
    "planned; `paused`: no access until it goes on; `expired`, `revoked`: ended; `unknown`: the store said something that " +
    "we do not know",
  "Subscription.is_active": "Whether it gives access now, by the clock",
  "StoreNotification.notification_id": "The store's own id: repeats carry the same",
  "StoreNotification.type": "In the store's own words",
  "StoreNotification.subtype": "In the store's own words; null for none",
  "StoreNotification.state":
    "`pending` is tried again until it can be applied; `ignored` is genuine and can never apply; nothing is dropped",
  "StoreNotification.reason": "Why it waits or is ignored; null once it is applied",
  "StoreNotification.signed_at": "When the store signed it, UTC",
  "StoreNotification.received_at": "When it arrived here, UTC",
  "storeANotification.status": "`accepted` now, `duplicate` of an earlier one, or kept but `ignored`",
  "storeBNotification.status": "`accepted` now, `duplicate` of an earlier one, or kept but `ignored`",
  "storeBNotification.message": "The notification as the store's publisher wraps it",
  "WebhookDelivery.event": "Name of the event",
  "Webhook.is_active": "Whether events are sent to it",
  "AppWebhook.is_active": "Whether events are sent to it",
  "health.status": "Always `ok`: a program that is not up answers nothing",
  "health.version": "The program's version",
  "login.tenants": "The user's workspaces, the default one first",
  "Account.status":
    "`connected` works; `connecting` tries; `qr_required`, `two_factor_required`, `challenge_required` wait for a person; " +
    "`disconnected` was stopped; `error` gave up, see `last_error`",
  "AiLog.message_id": "The incoming message that is answered",
  "AiLog.status":
    "`pending` waits for its evaluation, `generated` for its sending; `sent`, `failed` and `skipped` are final",
  "Chat.type": "`private`, `group` or `channel`",
  "Chat.name": "The other side's name, or the group's; null where none is known",
  "Chat.last_message_at": "When the last message was sent or received; null before the first",
  "Chat.ai": "What the chat says to the AI",
  "AiEffectiveSettings.to": "Who is told, by this channel",
  "ManagerAlerts.enabled": "Whether anybody is told",
  "Message.direction": "`incoming` from the platform, `outgoing` from this channel",
  "Message.type": "What the message is; only texts have all of it in `body`",
  "Message.from": "Who sent it; null where the platform does not say",
  "Message.to": "Who it was sent to; null where the platform does not say",
  "Message.body": "The text, or what the platform says beside an image and the like; empty for none",
  "Message.status": "How far it came; it never goes back, but a message may be `deleted`",
  "Message.source": "`api`, `ai`, `manual` (a person on the platform's own app) or `platform` (the other side)",
  "Message.timestamp": "When it was sent, UTC",
  "updateChat.name": "A name of your own for the chat; null gives it back to the platform"
}

/** Records that show the same under another name, and answers that show a record without its name. */
const same: { readonly [place: string]: string } = {
  Subscriber: "Subscription",
  NewToken: "Token",
  createAppWebhook: "AppWebhook",
  rotateAppWebhookSecret: "AppWebhook",
  createWebhook: "Webhook",
  rotateWebhookSecret: "Webhook",
  createAccount: "Account",
  connectAccount: "Account",
  showQr: "Account",
  answerChallenge: "Account",
  disconnectAccount: "Account",
  logoutAccount: "Account"
}

const meaning = (place: string, field: string): string | undefined =>
  apart[`${place}.${field}`] ?? apart[`${same[place] ?? place}.${field}`] ?? everywhere[field]

const fieldOf = (place: string, field: string, schema: unknown): unknown => {
  const inner = explained(place, schema)
  const text = meaning(place, field)
  return Predicate.isReadonlyRecord(inner) && inner["description"] === undefined && text !== undefined
    ? { ...inner, description: text }
    : inner
}

/** A JSON schema of one place (a record's name or an `operationId`) whose fields all say what they mean. */
export const explained = (place: string, json: unknown): unknown => {
  if (Array.isArray(json)) return json.map((one) => explained(place, one))
  if (!Predicate.isReadonlyRecord(json)) return json
  const schema: Json = json
  return Record.map(schema, (value, key) => {
    if (key === "examples" || key === "enum" || key === "const") return value
    if (key !== "properties" || !Predicate.isReadonlyRecord(value)) return explained(place, value)
    return Record.map(value, (property, field) => fieldOf(place, field, property))
  })
}
