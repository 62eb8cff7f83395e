-- What the migrations make, for readers: `npm run schema` renews it.

CREATE TABLE access_tokens (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  abilities text[] NOT NULL,
  digest text NOT NULL,
  expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT access_tokens_digest_key UNIQUE (digest),
  CONSTRAINT access_tokens_pkey PRIMARY KEY (id),
  CONSTRAINT access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE ai_accounts (
  account_id uuid NOT NULL,
  settings jsonb NOT NULL,
  api_key_sealed text,
  CONSTRAINT ai_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT ai_accounts_pkey PRIMARY KEY (account_id)
);

CREATE TABLE ai_global (
  singleton boolean NOT NULL DEFAULT true,
  settings jsonb NOT NULL,
  api_key_sealed text,
  CONSTRAINT ai_global_pkey PRIMARY KEY (singleton),
  CONSTRAINT ai_global_singleton_check CHECK (singleton)
);

CREATE TABLE ai_logs (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  chat_id text NOT NULL,
  message_id uuid NOT NULL,
  reply_message_id uuid,
  status text NOT NULL,
  reason text,
  model_name text,
  prompt_tokens integer,
  completion_tokens integer,
  latency_ms integer,
  reply text,
  created_at timestamp with time zone NOT NULL,
  detail text,
  CONSTRAINT ai_logs_account_id_fkey FOREIGN KEY (account_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT ai_logs_message_id_key UNIQUE (message_id),
  CONSTRAINT ai_logs_pkey PRIMARY KEY (id),
  CONSTRAINT ai_logs_reply_message_id_key UNIQUE (reply_message_id),
  CONSTRAINT ai_logs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'generated'::text, 'sent'::text, 'failed'::text, 'skipped'::text])))
);

CREATE TABLE apps (
  id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  bundle_id text,
  package_name text,
  platforms text[] NOT NULL DEFAULT '{}'::text[],
  public_api_key text NOT NULL,
  status text NOT NULL DEFAULT 'active'::text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  transfer_behavior text NOT NULL DEFAULT 'transfer'::text,
  CONSTRAINT apps_pkey PRIMARY KEY (id),
  CONSTRAINT apps_public_api_key_key UNIQUE (public_api_key),
  CONSTRAINT apps_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text]))),
  CONSTRAINT apps_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id),
  CONSTRAINT apps_tenant_id_slug_key UNIQUE (tenant_id, slug),
  CONSTRAINT apps_transfer_behavior_check CHECK ((transfer_behavior = ANY (ARRAY['transfer'::text, 'keep'::text])))
);

CREATE TABLE audit_log (
  id uuid NOT NULL,
  tenant_id uuid NOT NULL,
  user_id uuid NOT NULL,
  token_id uuid NOT NULL,
  operation text NOT NULL,
  record_id text,
  path jsonb NOT NULL,
  changes jsonb,
  address text,
  request_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);

CREATE TABLE channel_pairings (
  channel_id uuid NOT NULL,
  phone_number text,
  shown_as text,
  shown_sealed text,
  expires_at timestamp with time zone,
  CONSTRAINT channel_pairings_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT channel_pairings_pkey PRIMARY KEY (channel_id),
  CONSTRAINT channel_pairings_shown_as_check CHECK ((shown_as = ANY (ARRAY['qr'::text, 'pairing_code'::text])))
);

CREATE TABLE channels (
  id uuid NOT NULL,
  name text NOT NULL,
  platform text NOT NULL,
  status text NOT NULL DEFAULT 'disconnected'::text,
  username text,
  last_error text,
  token_digest text NOT NULL,
  session_sealed text,
  login_count integer NOT NULL DEFAULT 0,
  poll_cursor text,
  paused_until timestamp with time zone,
  frozen_until timestamp with time zone,
  setbacks integer NOT NULL DEFAULT 0,
  connected_at timestamp with time zone,
  last_synced_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  pacing text,
  login_attempts timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  code_attempts timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  CONSTRAINT channels_pkey PRIMARY KEY (id),
  CONSTRAINT channels_platform_check CHECK ((platform = ANY (ARRAY['platform_a'::text, 'platform_b'::text]))),
  CONSTRAINT channels_status_check CHECK ((status = ANY (ARRAY['disconnected'::text, 'connecting'::text, 'qr_required'::text, 'two_factor_required'::text, 'challenge_required'::text, 'connected'::text, 'error'::text]))),
  CONSTRAINT channels_token_digest_key UNIQUE (token_digest)
);

CREATE TABLE chat_aliases (
  channel_id uuid NOT NULL,
  alias text NOT NULL,
  chat_id text NOT NULL,
  CONSTRAINT chat_aliases_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT chat_aliases_pkey PRIMARY KEY (channel_id, alias)
);

CREATE TABLE chats (
  channel_id uuid NOT NULL,
  chat_id text NOT NULL,
  type text NOT NULL,
  name text,
  is_blocked boolean NOT NULL DEFAULT false,
  unread_count integer NOT NULL DEFAULT 0,
  last_message_id uuid NOT NULL,
  last_message_at timestamp with time zone,
  ai_mode text NOT NULL DEFAULT 'inherit'::text,
  custom_system_prompt text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT chats_ai_mode_check CHECK ((ai_mode = ANY (ARRAY['inherit'::text, 'enabled'::text, 'disabled'::text]))),
  CONSTRAINT chats_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT chats_pkey PRIMARY KEY (channel_id, chat_id),
  CONSTRAINT chats_type_check CHECK ((type = ANY (ARRAY['private'::text, 'group'::text, 'channel'::text])))
);

CREATE TABLE customers (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  app_user_id text NOT NULL,
  is_anonymous boolean NOT NULL,
  first_seen timestamp with time zone NOT NULL,
  last_seen timestamp with time zone NOT NULL,
  merged_into uuid,
  original_app_user_id text,
  erased_at timestamp with time zone,
  CONSTRAINT customers_app_id_app_user_id_key UNIQUE (app_id, app_user_id),
  CONSTRAINT customers_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT customers_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES customers(id),
  CONSTRAINT customers_pkey PRIMARY KEY (id)
);

CREATE TABLE domain_events (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  type text NOT NULL,
  cause text NOT NULL,
  app_user_id text,
  store text,
  environment text,
  subscription_id uuid,
  data jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT domain_events_app_id_cause_key UNIQUE (app_id, cause),
  CONSTRAINT domain_events_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT domain_events_pkey PRIMARY KEY (id)
);

CREATE TABLE entitlement_products (
  entitlement_id uuid NOT NULL,
  product_id uuid NOT NULL,
  CONSTRAINT entitlement_products_entitlement_id_fkey FOREIGN KEY (entitlement_id) REFERENCES entitlements(id) ON DELETE CASCADE,
  CONSTRAINT entitlement_products_pkey PRIMARY KEY (entitlement_id, product_id),
  CONSTRAINT entitlement_products_product_id_fkey FOREIGN KEY (product_id) REFERENCES products(id) ON DELETE CASCADE
);

CREATE TABLE entitlements (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  identifier text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT entitlements_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT entitlements_app_id_identifier_key UNIQUE (app_id, identifier),
  CONSTRAINT entitlements_pkey PRIMARY KEY (id)
);

CREATE TABLE grants (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  entitlement_id uuid NOT NULL,
  granted_at timestamp with time zone NOT NULL,
  expires_date timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT grants_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT grants_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT grants_entitlement_id_fkey FOREIGN KEY (entitlement_id) REFERENCES entitlements(id) ON DELETE CASCADE,
  CONSTRAINT grants_pkey PRIMARY KEY (id)
);

CREATE TABLE idempotency_keys (
  caller text NOT NULL,
  key text NOT NULL,
  id uuid NOT NULL,
  request text NOT NULL,
  answer_sealed text,
  leased_until timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller, key)
);

CREATE TABLE ledger_days (
  app_id uuid NOT NULL,
  environment text NOT NULL,
  day date NOT NULL,
  kind text NOT NULL,
  store text,
  product_identifier text,
  period_type text,
  currency text,
  price_micros bigint,
  days integer,
  count bigint NOT NULL,
  micros bigint NOT NULL,
  refund_micros bigint NOT NULL,
  CONSTRAINT ledger_days_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE
);

CREATE TABLE ledger_marks (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  app_id uuid NOT NULL,
  environment text NOT NULL,
  day date NOT NULL,
  CONSTRAINT ledger_marks_pkey PRIMARY KEY (id)
);

CREATE TABLE memberships (
  tenant_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  id uuid NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (tenant_id, user_id),
  CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text]))),
  CONSTRAINT memberships_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON DELETE CASCADE,
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE messages (
  id uuid NOT NULL,
  channel_id uuid NOT NULL,
  chat_id text NOT NULL,
  chat_type text NOT NULL,
  platform_message_id text,
  direction text NOT NULL,
  type text NOT NULL,
  sender text,
  recipient text,
  body text NOT NULL,
  status text NOT NULL,
  error text,
  source text NOT NULL,
  "timestamp" timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  not_before timestamp with time zone,
  tried_at timestamp with time zone,
  opens_chat boolean NOT NULL DEFAULT false,
  CONSTRAINT messages_channel_id_chat_id_platform_message_id_key UNIQUE (channel_id, chat_id, platform_message_id),
  CONSTRAINT messages_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT messages_direction_check CHECK ((direction = ANY (ARRAY['incoming'::text, 'outgoing'::text]))),
  CONSTRAINT messages_pkey PRIMARY KEY (id),
  CONSTRAINT messages_source_check CHECK ((source = ANY (ARRAY['api'::text, 'ai'::text, 'manual'::text, 'platform'::text]))),
  CONSTRAINT messages_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'deleted'::text])))
);

CREATE TABLE offerings (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  identifier text NOT NULL,
  is_current boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT offerings_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT offerings_app_id_identifier_key UNIQUE (app_id, identifier),
  CONSTRAINT offerings_pkey PRIMARY KEY (id)
);

CREATE TABLE packages (
  id uuid NOT NULL,
  offering_id uuid NOT NULL,
  identifier text NOT NULL,
  package_type text NOT NULL,
  product_identifier text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT packages_offering_id_fkey FOREIGN KEY (offering_id) REFERENCES offerings(id) ON DELETE CASCADE,
  CONSTRAINT packages_offering_id_identifier_key UNIQUE (offering_id, identifier),
  CONSTRAINT packages_package_type_check CHECK ((package_type = ANY (ARRAY['monthly'::text, 'annual'::text, 'weekly'::text, 'two_month'::text, 'three_month'::text, 'six_month'::text, 'lifetime'::text, 'custom'::text]))),
  CONSTRAINT packages_pkey PRIMARY KEY (id)
);

CREATE TABLE platform_session_keys (
  channel_id uuid NOT NULL,
  kind text NOT NULL,
  key_id text NOT NULL,
  sealed text NOT NULL,
  CONSTRAINT platform_session_keys_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES platform_sessions(channel_id) ON DELETE CASCADE,
  CONSTRAINT platform_session_keys_pkey PRIMARY KEY (channel_id, kind, key_id)
);

CREATE TABLE platform_sessions (
  channel_id uuid NOT NULL,
  epoch bigint NOT NULL,
  credentials_sealed text,
  CONSTRAINT platform_sessions_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT platform_sessions_pkey PRIMARY KEY (channel_id)
);

CREATE TABLE products (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  store text NOT NULL,
  identifier text NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  subscription_period text,
  price_micros bigint,
  currency text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT products_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT products_app_id_store_identifier_key UNIQUE (app_id, store, identifier),
  CONSTRAINT products_pkey PRIMARY KEY (id),
  CONSTRAINT products_store_check CHECK ((store = ANY (ARRAY['store_a'::text, 'store_b'::text, 'store_c'::text, 'custom'::text]))),
  CONSTRAINT products_type_check CHECK ((type = ANY (ARRAY['subscription'::text, 'non_renewing_subscription'::text, 'consumable'::text, 'non_consumable'::text])))
);

CREATE TABLE reply_alerts (
  account_id uuid NOT NULL,
  chat_id text NOT NULL,
  occasion text NOT NULL,
  told text NOT NULL,
  told_at timestamp with time zone NOT NULL,
  held_back integer NOT NULL,
  CONSTRAINT reply_alerts_account_id_fkey FOREIGN KEY (account_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT reply_alerts_pkey PRIMARY KEY (account_id, chat_id, occasion)
);

CREATE TABLE reply_jobs (
  account_id uuid NOT NULL,
  chat_id text NOT NULL,
  current uuid,
  answered_until uuid,
  waiting integer NOT NULL,
  due_at timestamp with time zone,
  CONSTRAINT reply_jobs_account_id_fkey FOREIGN KEY (account_id) REFERENCES channels(id) ON DELETE CASCADE,
  CONSTRAINT reply_jobs_pkey PRIMARY KEY (account_id, chat_id)
);

CREATE TABLE reply_parts (
  message_id uuid NOT NULL,
  log_id uuid NOT NULL,
  "position" integer NOT NULL,
  is_last boolean NOT NULL,
  CONSTRAINT reply_parts_log_id_fkey FOREIGN KEY (log_id) REFERENCES ai_logs(id) ON DELETE CASCADE,
  CONSTRAINT reply_parts_pkey PRIMARY KEY (message_id)
);

CREATE TABLE revoked_operator_tokens (
  jti uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT revoked_operator_tokens_pkey PRIMARY KEY (jti)
);

CREATE TABLE schema_migrations (
  migration_id integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name text NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (migration_id)
);

CREATE TABLE store_catch_ups (
  app_id uuid NOT NULL,
  environment text NOT NULL,
  caught_up_to timestamp with time zone,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp with time zone,
  CONSTRAINT store_catch_ups_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT store_catch_ups_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  CONSTRAINT store_catch_ups_pkey PRIMARY KEY (app_id, environment)
);

CREATE TABLE store_credentials (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  platform text NOT NULL,
  environment text NOT NULL,
  store_a_issuer_id text,
  store_a_key_id text,
  store_a_bundle_id text,
  store_b_package_name text,
  store_b_client_email text,
  secret_sealed text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT store_credentials_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT store_credentials_app_id_platform_environment_key UNIQUE (app_id, platform, environment),
  CONSTRAINT store_credentials_environment_check CHECK ((environment = ANY (ARRAY['production'::text, 'sandbox'::text]))),
  CONSTRAINT store_credentials_pkey PRIMARY KEY (id),
  CONSTRAINT store_credentials_platform_check CHECK ((platform = ANY (ARRAY['store_a'::text, 'store_b'::text])))
);

CREATE TABLE store_facts (
  subscription_id uuid NOT NULL,
  fact_id text NOT NULL,
  signed_at timestamp with time zone NOT NULL,
  fact jsonb NOT NULL,
  CONSTRAINT store_facts_pkey PRIMARY KEY (subscription_id, fact_id),
  CONSTRAINT store_facts_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) ON DELETE CASCADE
);

CREATE TABLE store_notifications (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  store text NOT NULL,
  notification_id text NOT NULL,
  type text NOT NULL,
  subtype text,
  environment text,
  state text NOT NULL,
  reason text,
  payload text NOT NULL,
  signed_at timestamp with time zone NOT NULL,
  received_at timestamp with time zone NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamp with time zone,
  CONSTRAINT store_notifications_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT store_notifications_app_id_store_notification_id_key UNIQUE (app_id, store, notification_id),
  CONSTRAINT store_notifications_pkey PRIMARY KEY (id),
  CONSTRAINT store_notifications_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'applied'::text, 'ignored'::text])))
);

CREATE TABLE store_tokens (
  app_id uuid NOT NULL,
  purchase_token text NOT NULL,
  type text NOT NULL,
  readings integer NOT NULL,
  read_at timestamp with time zone,
  original_transaction_id text,
  started_at timestamp with time zone,
  order_id text,
  period_started_at timestamp with time zone,
  replaced_by text,
  product_id text,
  acknowledge_due_at timestamp with time zone,
  acknowledged_at timestamp with time zone,
  CONSTRAINT store_tokens_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT store_tokens_pkey PRIMARY KEY (app_id, purchase_token),
  CONSTRAINT store_tokens_type_check CHECK ((type = ANY (ARRAY['subscription'::text, 'one_time'::text])))
);

CREATE TABLE store_voided_orders (
  app_id uuid NOT NULL,
  purchase_token text NOT NULL,
  order_id text NOT NULL,
  voided_at timestamp with time zone NOT NULL,
  CONSTRAINT store_voided_orders_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT store_voided_orders_pkey PRIMARY KEY (app_id, purchase_token, order_id)
);

CREATE TABLE subscriptions (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  store text NOT NULL,
  environment text NOT NULL,
  original_transaction_id text NOT NULL,
  product_identifier text NOT NULL,
  status text NOT NULL,
  expires_date timestamp with time zone,
  state jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  look_at timestamp with time zone,
  CONSTRAINT subscriptions_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT subscriptions_app_id_store_environment_original_transaction_key UNIQUE (app_id, store, environment, original_transaction_id),
  CONSTRAINT subscriptions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT subscriptions_pkey PRIMARY KEY (id)
);

CREATE TABLE tenants (
  id uuid NOT NULL,
  name text NOT NULL,
  slug text NOT NULL,
  billing_email text,
  plan text NOT NULL DEFAULT 'free'::text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT tenants_pkey PRIMARY KEY (id),
  CONSTRAINT tenants_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'enterprise'::text]))),
  CONSTRAINT tenants_slug_key UNIQUE (slug)
);

CREATE TABLE transactions (
  id uuid NOT NULL,
  app_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  subscription_id uuid,
  store text NOT NULL,
  environment text NOT NULL,
  store_transaction_id text NOT NULL,
  original_transaction_id text NOT NULL,
  product_identifier text NOT NULL,
  period_type text NOT NULL,
  ownership_type text NOT NULL,
  purchase_date timestamp with time zone NOT NULL,
  expires_date timestamp with time zone,
  refunded_at timestamp with time zone,
  price_micros bigint,
  currency text,
  created_at timestamp with time zone NOT NULL,
  covered_until timestamp with time zone,
  signed_at timestamp with time zone,
  refunded_micros bigint,
  CONSTRAINT transactions_app_id_fkey FOREIGN KEY (app_id) REFERENCES apps(id) ON DELETE CASCADE,
  CONSTRAINT transactions_app_id_store_environment_store_transaction_id_key UNIQUE (app_id, store, environment, store_transaction_id),
  CONSTRAINT transactions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  CONSTRAINT transactions_pkey PRIMARY KEY (id),
  CONSTRAINT transactions_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id)
);

CREATE TABLE users (
  id uuid NOT NULL,
  name text NOT NULL,
  email text NOT NULL,
  password_hash text NOT NULL,
  is_operator boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (id)
);

CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL,
  id uuid NOT NULL,
  number integer NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  code integer NOT NULL,
  response_body text,
  error text,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, id)
);

CREATE TABLE webhook_deliveries (
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  owner_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event text NOT NULL,
  state text NOT NULL,
  attempt_count integer NOT NULL DEFAULT 0,
  due_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  lost text GENERATED ALWAYS AS (
CASE
    WHEN (state = ANY (ARRAY['exhausted'::text, 'canceled'::text])) THEN state
    ELSE NULL::text
END) STORED,
  order_key text,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivering'::text, 'failed'::text, 'succeeded'::text, 'exhausted'::text, 'canceled'::text])))
);

CREATE TABLE webhook_endpoints (
  id uuid NOT NULL,
  owner_kind text NOT NULL,
  owner_id uuid NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  retry_count integer NOT NULL,
  timeout_seconds integer NOT NULL,
  secret_sealed text NOT NULL,
  is_active boolean NOT NULL DEFAULT true,
  disabled_reason text,
  failing_since timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  previous_secret_sealed text,
  previous_secret_until timestamp with time zone,
  max_per_second integer,
  is_ordered boolean NOT NULL DEFAULT false,
  paused_until timestamp with time zone,
  pauses integer NOT NULL DEFAULT 0,
  CONSTRAINT webhook_endpoints_max_per_second_check CHECK (((max_per_second >= 1) AND (max_per_second <= 1000))),
  CONSTRAINT webhook_endpoints_owner_kind_check CHECK ((owner_kind = ANY (ARRAY['app'::text, 'account'::text]))),
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_endpoints_retry_count_check CHECK (((retry_count >= 0) AND (retry_count <= 5))),
  CONSTRAINT webhook_endpoints_timeout_seconds_check CHECK (((timeout_seconds >= 1) AND (timeout_seconds <= 30)))
);

CREATE TABLE webhook_events (
  id uuid NOT NULL,
  owner_kind text NOT NULL,
  owner_id uuid NOT NULL,
  event text NOT NULL,
  body text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  order_key text,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  CONSTRAINT webhook_events_owner_kind_check CHECK ((owner_kind = ANY (ARRAY['app'::text, 'account'::text]))),
  CONSTRAINT webhook_events_pkey PRIMARY KEY (id)
);

CREATE INDEX access_tokens_user ON access_tokens USING btree (user_id, id DESC);

CREATE INDEX ai_logs_account ON ai_logs USING btree (account_id, id DESC);

CREATE INDEX ai_logs_chat ON ai_logs USING btree (account_id, chat_id, id DESC);

CREATE INDEX ai_logs_open ON ai_logs USING btree (account_id, chat_id, id) WHERE (status = ANY (ARRAY['pending'::text, 'generated'::text]));

CREATE INDEX apps_tenant ON apps USING btree (tenant_id, id DESC);

CREATE INDEX audit_log_record ON audit_log USING btree (tenant_id, record_id, id DESC);

CREATE INDEX audit_log_tenant ON audit_log USING btree (tenant_id, id DESC);

CREATE INDEX audit_log_user ON audit_log USING btree (tenant_id, user_id, id DESC);

CREATE INDEX channels_alive ON channels USING btree (id) WHERE (status = ANY (ARRAY['connected'::text, 'connecting'::text, 'qr_required'::text]));

CREATE INDEX chats_active ON chats USING btree (channel_id, last_message_id DESC);

CREATE INDEX customers_app ON customers USING btree (app_id, id DESC);

CREATE INDEX customers_borne ON customers USING btree (app_id, merged_into DESC) WHERE (merged_into IS NOT NULL);

CREATE INDEX customers_counted ON customers USING btree (app_id, first_seen) WHERE (merged_into IS NULL);

CREATE INDEX customers_merged ON customers USING btree (merged_into) WHERE (merged_into IS NOT NULL);

CREATE INDEX customers_search ON customers USING btree (app_id, lower(app_user_id) text_pattern_ops);

CREATE INDEX domain_events_app ON domain_events USING btree (app_id, id DESC);

CREATE INDEX domain_events_person ON domain_events USING btree (app_id, app_user_id, id DESC);

CREATE INDEX domain_events_type ON domain_events USING btree (app_id, type, id DESC);

CREATE INDEX entitlement_products_product ON entitlement_products USING btree (product_id);

CREATE INDEX entitlements_app ON entitlements USING btree (app_id, id DESC);

CREATE INDEX grants_app ON grants USING btree (app_id);

CREATE INDEX grants_customer ON grants USING btree (customer_id, id DESC);

CREATE INDEX grants_entitlement ON grants USING btree (entitlement_id);

CREATE INDEX idempotency_keys_age ON idempotency_keys USING btree (created_at);

CREATE INDEX ledger_days_app ON ledger_days USING btree (app_id, environment, kind, day);

CREATE INDEX ledger_days_day ON ledger_days USING btree (app_id, environment, day);

CREATE INDEX ledger_marks_day ON ledger_marks USING btree (app_id, environment, day);

CREATE UNIQUE INDEX memberships_tenant ON memberships USING btree (tenant_id, id DESC);

CREATE UNIQUE INDEX memberships_user ON memberships USING btree (user_id, id);

CREATE INDEX messages_chat ON messages USING btree (channel_id, chat_id, id DESC);

CREATE INDEX messages_manual ON messages USING btree (channel_id, chat_id, "timestamp" DESC) WHERE (source = 'manual'::text);

CREATE INDEX messages_of_platform ON messages USING btree (channel_id, platform_message_id) WHERE (platform_message_id IS NOT NULL);

CREATE INDEX messages_opening ON messages USING btree (channel_id, tried_at DESC) WHERE (opens_chat AND (tried_at IS NOT NULL));

CREATE INDEX messages_tried ON messages USING btree (channel_id, tried_at DESC) WHERE (tried_at IS NOT NULL);

CREATE INDEX messages_unsent ON messages USING btree (channel_id, id) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text]));

CREATE INDEX messages_unsent_chat ON messages USING btree (channel_id, chat_id, id) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text]));

CREATE INDEX offerings_app ON offerings USING btree (app_id, id DESC);

CREATE UNIQUE INDEX offerings_current ON offerings USING btree (app_id) WHERE is_current;

CREATE INDEX packages_offering ON packages USING btree (offering_id, id DESC);

CREATE INDEX products_app ON products USING btree (app_id, id DESC);

CREATE INDEX products_identifier ON products USING btree (app_id, identifier);

CREATE INDEX reply_jobs_due ON reply_jobs USING btree (account_id, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX reply_parts_log ON reply_parts USING btree (log_id);

CREATE INDEX store_catch_ups_due ON store_catch_ups USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX store_credentials_app ON store_credentials USING btree (app_id, id DESC);

CREATE INDEX store_notifications_app ON store_notifications USING btree (app_id, id DESC);

CREATE INDEX store_notifications_due ON store_notifications USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX store_notifications_state ON store_notifications USING btree (app_id, state, id DESC) WHERE (state <> 'applied'::text);

CREATE INDEX store_tokens_chain ON store_tokens USING btree (app_id, original_transaction_id) WHERE (replaced_by IS NULL);

CREATE INDEX store_tokens_unacknowledged ON store_tokens USING btree (acknowledge_due_at) WHERE ((acknowledge_due_at IS NOT NULL) AND (acknowledged_at IS NULL));

CREATE INDEX subscriptions_app ON subscriptions USING btree (app_id, id DESC);

CREATE INDEX subscriptions_bought ON subscriptions USING btree (app_id, store, product_identifier);

CREATE INDEX subscriptions_customer ON subscriptions USING btree (customer_id);

CREATE INDEX subscriptions_environment ON subscriptions USING btree (app_id, environment, id DESC);

CREATE INDEX subscriptions_look ON subscriptions USING btree (look_at) WHERE (look_at IS NOT NULL);

CREATE INDEX subscriptions_product ON subscriptions USING btree (app_id, product_identifier, id DESC);

CREATE INDEX subscriptions_status ON subscriptions USING btree (app_id, status, id DESC);

CREATE INDEX subscriptions_store ON subscriptions USING btree (app_id, store, id DESC);

CREATE INDEX subscriptions_troubled ON subscriptions USING btree (app_id, environment, status) WHERE (status = ANY (ARRAY['in_grace_period'::text, 'in_billing_retry'::text, 'on_hold'::text]));

CREATE INDEX transactions_bought ON transactions USING btree (app_id, store, product_identifier);

CREATE INDEX transactions_chain ON transactions USING btree (subscription_id, purchase_date, store_transaction_id COLLATE "C") WHERE (covered_until IS NOT NULL);

CREATE INDEX transactions_covered ON transactions USING btree (app_id, environment, covered_until) WHERE (covered_until IS NOT NULL);

CREATE INDEX transactions_customer ON transactions USING btree (customer_id, id DESC);

CREATE INDEX transactions_listed ON transactions USING btree (app_id, purchase_date DESC, id DESC);

CREATE INDEX transactions_listed_environment ON transactions USING btree (app_id, environment, purchase_date DESC, id DESC);

CREATE INDEX transactions_listed_product ON transactions USING btree (app_id, product_identifier, purchase_date DESC, id DESC);

CREATE INDEX transactions_listed_store ON transactions USING btree (app_id, store, purchase_date DESC, id DESC);

CREATE INDEX transactions_once ON transactions USING btree (customer_id) WHERE (subscription_id IS NULL);

CREATE INDEX transactions_subscription ON transactions USING btree (subscription_id);

CREATE UNIQUE INDEX users_email_key ON users USING btree (lower(email));

CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (endpoint_id, due_at, id) WHERE (due_at IS NOT NULL);

CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries USING btree (endpoint_id, id DESC);

CREATE INDEX webhook_deliveries_event ON webhook_deliveries USING btree (event_id);

CREATE INDEX webhook_deliveries_event_type ON webhook_deliveries USING btree (owner_id, event, id DESC);

CREATE INDEX webhook_deliveries_lost ON webhook_deliveries USING btree (owner_id, lost, id DESC) WHERE (lost IS NOT NULL);

CREATE INDEX webhook_deliveries_ordered ON webhook_deliveries USING btree (endpoint_id, order_key, id) WHERE ((due_at IS NOT NULL) AND (order_key IS NOT NULL));

CREATE INDEX webhook_deliveries_owner ON webhook_deliveries USING btree (owner_id, id DESC);

CREATE INDEX webhook_endpoints_owner ON webhook_endpoints USING btree (owner_id, id DESC);

CREATE INDEX webhook_events_owner ON webhook_events USING btree (owner_id, id);

CREATE INDEX webhook_events_written ON webhook_events USING btree (xid, id);

CREATE OR REPLACE FUNCTION customer_mark()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN
      INSERT INTO ledger_marks (app_id, environment, day)
        VALUES (NEW.app_id, '', (NEW.first_seen AT TIME ZONE 'UTC')::date);
      IF TG_OP = 'UPDATE' AND OLD.first_seen <> NEW.first_seen THEN
        INSERT INTO ledger_marks (app_id, environment, day)
          VALUES (OLD.app_id, '', (OLD.first_seen AT TIME ZONE 'UTC')::date);
      END IF;
      RETURN NULL;
    END $function$;

CREATE OR REPLACE FUNCTION ledger_mark()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN
      IF NOT EXISTS (SELECT FROM changed) THEN RETURN NULL; END IF;
      INSERT INTO ledger_marks (app_id, environment, day)
        SELECT app_id, environment, (purchase_date AT TIME ZONE 'UTC')::date FROM changed
        UNION SELECT app_id, environment, (covered_until AT TIME ZONE 'UTC')::date FROM changed
          WHERE covered_until IS NOT NULL
        UNION SELECT kin.app_id, kin.environment, (kin.purchase_date AT TIME ZONE 'UTC')::date FROM changed
          JOIN transactions kin ON kin.subscription_id = changed.subscription_id;
      RETURN NULL;
    END $function$;

CREATE OR REPLACE FUNCTION purchase_hold(of_app uuid, of_store text, of_environment text, of_original text, chain uuid, is_new boolean, facts text[], customer uuid, is_erased boolean, notification text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended(of_app || ':' || of_store || ':' || of_original, 0));
      IF EXISTS (
        SELECT FROM store_notifications
        WHERE app_id = of_app AND store = of_store AND notification_id = notification
      ) THEN RETURN false; END IF;
      IF customer IS NOT NULL THEN
        PERFORM FROM customers WHERE id = customer AND merged_into IS NULL AND (erased_at IS NOT NULL) = is_erased
          FOR SHARE;
        IF NOT FOUND THEN RETURN false; END IF;
      END IF;
      IF is_new THEN RETURN NOT EXISTS (
        SELECT FROM subscriptions WHERE app_id = of_app AND store = of_store AND environment = of_environment
          AND original_transaction_id = of_original
      ); END IF;
      RETURN EXISTS (
        SELECT FROM subscriptions JOIN customers ON customers.id = subscriptions.customer_id
        WHERE subscriptions.id = chain AND coalesce(customers.merged_into, customers.id) = customer
      ) AND cardinality(facts) = (
        SELECT count(*) FILTER (WHERE fact_id = ANY (facts)) FROM store_facts
        WHERE subscription_id = chain HAVING count(*) = cardinality(facts)
      );
    END $function$;

CREATE TRIGGER customers_joined AFTER INSERT ON customers FOR EACH ROW EXECUTE FUNCTION customer_mark();

CREATE TRIGGER customers_moved AFTER UPDATE OF first_seen, merged_into ON customers FOR EACH ROW WHEN (((old.first_seen <> new.first_seen) OR (old.merged_into IS DISTINCT FROM new.merged_into))) EXECUTE FUNCTION customer_mark();

CREATE TRIGGER ledger_deleted AFTER DELETE ON transactions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();

CREATE TRIGGER ledger_inserted AFTER INSERT ON transactions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();

CREATE TRIGGER ledger_updated_from AFTER UPDATE ON transactions REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();

CREATE TRIGGER ledger_updated_to AFTER UPDATE ON transactions REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();
