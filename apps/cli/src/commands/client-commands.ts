import type { Command } from 'commander';

type Register = (program: Command) => void;

/** Commands that talk to a platform anywhere; each is loaded only when it is asked for, or when all are shown. */
const CLIENT_COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  login: async () => (await import('./login.ts')).registerLoginCommand,
  logout: async () => (await import('./logout.ts')).registerLogoutCommand,
  bucket: async () => (await import('./bucket.ts')).registerBucketCommand,
  object: async () => (await import('./object.ts')).registerObjectCommand,
  key: async () => (await import('./key.ts')).registerKeyCommand,
  domain: async () => (await import('./domain.ts')).registerDomainCommand,
  sandbox: async () => (await import('./sandbox.ts')).registerSandboxCommand,
  mcp: async () => (await import('./mcp.ts')).registerMcpCommand,
  kubeconfig: async () => (await import('./kubeconfig.ts')).registerKubeconfigCommand,
  forward: async () => (await import('./forward.ts')).registerForwardCommand,
  s3: async () => (await import('./s3.ts')).registerS3Command,
};

/** Registers the client's command of this name, else all of them; answers whether there is one of this name. */
export async function registerClientCommands(program: Command, name: string | undefined): Promise<boolean> {
  const named = Object.entries(CLIENT_COMMANDS).filter(([each]) => each === name);
  const wanted = named.length > 0 ? named : Object.entries(CLIENT_COMMANDS);
  for (const [, load] of wanted) (await load())(program);
  return named.length > 0;
}
