import { Array, Option } from "effect"

/** What a running server writes about itself into `postmaster.pid` (PostgreSQL, `pidfile.h`). */
export interface Postmaster {
  readonly pid: number
  readonly cluster: string
  readonly port: number
  readonly socket: string
}

/** Absent while the server is still writing the file. */
export const parse = (text: string): Option.Option<Postmaster> => {
  const lines = Array.map(text.split("\n"), (line) => line.trim())
  const [pid, cluster, , port, socket] = lines
  return lines.length > 5 && Number(pid) > 0 && Number(port) > 0 && cluster !== undefined && socket !== undefined
    ? Option.some({ pid: Number(pid), cluster, port: Number(port), socket })
    : Option.none()
}
