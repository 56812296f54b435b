import { basename } from "node:path"

/** Whether its name says that it holds secrets. An agent that may read everything else is asked about it. */
export const isSecretFile = (path: string): boolean =>
  /\.env(?:\.|$)/.test(basename(path)) && !path.endsWith(".env.example")
