import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect, Metric, MetricKeyType, type MetricPair, MetricState, Option } from "effect"

const escaped = (text: string) => text.replace(/\\/g, "\\\\").replace(/\n/g, "\\n").replace(/"/g, '\\"')

const sample = (name: string, labels: ReadonlyArray<readonly [string, string]>, value: number | bigint): string => {
  const inside = labels.map(([label, text]) => `${label}="${escaped(text)}"`).join(",")
  return `${name}${inside === "" ? "" : `{${inside}}`} ${value === Infinity ? "+Inf" : String(value)}`
}

const samplesOf = (pair: MetricPair.MetricPair.Untyped): ReadonlyArray<string> => {
  const { name, tags } = pair.metricKey
  const labels = tags.map(({ key, value }) => [key, value] as const)
  const state = pair.metricState
  if (MetricState.isCounterState(state)) return [sample(name, labels, state.count)]
  if (MetricState.isGaugeState(state)) return [sample(name, labels, state.value)]
  if (MetricState.isHistogramState(state)) {
    return [
      ...state.buckets.map(([boundary, count]) =>
        sample(`${name}_bucket`, [...labels, ["le", boundary === Infinity ? "+Inf" : String(boundary)]], count)
      ),
      sample(`${name}_sum`, labels, state.sum),
      sample(`${name}_count`, labels, state.count)
    ]
  }
  if (MetricState.isFrequencyState(state)) {
    return [...state.occurrences].map(([value, count]) => sample(name, [...labels, ["value", value]], count))
  }
  return []
}

const typeOf = (pair: MetricPair.MetricPair.Untyped): string => {
  const { keyType } = pair.metricKey
  if (MetricKeyType.isHistogramKey(keyType)) return "histogram"
  if (MetricKeyType.isGaugeKey(keyType)) return "gauge"
  return "counter"
}

/** Every metric of the runtime in Prometheus text format 0.0.4. */
export const prometheusText = (pairs: ReadonlyArray<MetricPair.MetricPair.Untyped>): string => {
  const families = new Map<string, { readonly header: ReadonlyArray<string>; readonly samples: Array<string> }>()
  for (const pair of pairs) {
    const { description, name } = pair.metricKey
    const family = families.get(name) ?? {
      header: [
        ...Option.match(description, { onNone: () => [], onSome: (text) => [`# HELP ${name} ${escaped(text)}`] }),
        `# TYPE ${name} ${typeOf(pair)}`
      ],
      samples: []
    }
    family.samples.push(...samplesOf(pair))
    families.set(name, family)
  }
  return [...families.values()].flatMap(({ header, samples }) => [...header, ...samples, ""]).join("\n")
}

export const layer = HttpApiBuilder.Router.use((router) =>
  router.get(
    "/metrics",
    Effect.map(Metric.snapshot, (pairs) =>
      HttpServerResponse.text(prometheusText(pairs), { contentType: "text/plain; version=0.0.4; charset=utf-8" })
    )
  )
)
