/** How git may reach remotes, and with which login. Pure. */

type Environment = Readonly<Record<string, string | undefined>>

/** Paths of files, so that no secret is in an environment or in an argument. */
export const accessVariables = {
  /** Lines `https://USER:TOKEN@HOST`, as git's own credential store has them. */
  credentials: "REPRISE_GIT_CREDENTIALS_FILE",
  sshKey: "REPRISE_GIT_SSH_KEY_FILE",
  knownHosts: "REPRISE_GIT_KNOWN_HOSTS_FILE",
  /** The certificate of whoever signed that of the server. */
  authority: "REPRISE_GIT_CA_FILE"
} as const

/** For the shell in which git starts helpers and ssh. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const fileIn = (environment: Environment, name: string): string | undefined => {
  const value = environment[name]
  return value === undefined || value === "" ? undefined : value
}

const sshCommand = (environment: Environment): string => {
  const key = fileIn(environment, accessVariables.sshKey)
  const hosts = fileIn(environment, accessVariables.knownHosts)
  return [
    "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4",
    ...(key === undefined ? [] : [`-o IdentitiesOnly=yes -i ${quote(key)}`]),
    ...(hosts === undefined
      ? []
      : [
          "-o StrictHostKeyChecking=yes -o GlobalKnownHostsFile=/dev/null",
          // Quoted for ssh as well, which takes spaces for the ends of names.
          `-o UserKnownHostsFile=${quote(`"${hosts}"`)}`
        ])
  ].join(" ")
}

/** Only reads: git would remove a login from the file that a server has refused once. */
const loginFrom = (file: string): string =>
  `!login() { test "$1" = get && git credential-store --file=${quote(file)} get; }; login`

const allowedTransports = ["https", "ssh", "file"]

/** Settings of git for every call that reaches a remote. Where no file is named, the user's own configuration counts. */
export const accessSettings = (environment: Environment): ReadonlyArray<string> => {
  const credentials = fileIn(environment, accessVariables.credentials)
  const authority = fileIn(environment, accessVariables.authority)
  const settings = [
    "protocol.allow=never",
    ...allowedTransports.map((name) => `protocol.${name}.allow=always`),
    `core.sshCommand=${sshCommand(environment)}`,
    // The first line forgets the user's own helpers.
    ...(credentials === undefined ? [] : ["credential.helper=", `credential.helper=${loginFrom(credentials)}`]),
    ...(authority === undefined ? [] : [`http.sslCAInfo=${authority}`]),
    // A server that stands still for two minutes is gone.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=120",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "fetch.recurseSubmodules=no",
    "gc.autoDetach=false"
  ]
  return settings.flatMap((setting) => ["-c", setting])
}
