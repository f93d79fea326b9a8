import type { Command } from 'commander';

type Register = (program: Command) => void;

/**
 * All commands, in help order. Each is loaded on demand: otherwise a client would load the platform, at a cost of one
 * second and 100 MB per command, and a platform would keep the clients in memory.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  login: async () => (await import('./login.ts')).registerLoginCommand,
  logout: async () => (await import('./logout.ts')).registerLogoutCommand,
  status: async () => (await import('./status.ts')).registerStatusCommand,
  bucket: async () => (await import('./bucket.ts')).registerBucketCommand,
  object: async () => (await import('./object.ts')).registerObjectCommand,
  key: async () => (await import('./key.ts')).registerKeyCommand,
  'service-account': async () => (await import('./service-account.ts')).registerServiceAccountCommand,
  domain: async () => (await import('./domain.ts')).registerDomainCommand,
  quota: async () => (await import('./quota.ts')).registerQuotaCommand,
  sandbox: async () => (await import('./sandbox.ts')).registerSandboxCommand,
  template: async () => (await import('./template.ts')).registerTemplateCommand,
  secret: async () => (await import('./secret.ts')).registerSecretCommand,
  webhook: async () => (await import('./webhook.ts')).registerWebhookCommand,
  volume: async () => (await import('./volume.ts')).registerVolumeCommand,
  cluster: async () => (await import('./cluster.ts')).registerClusterCommand,
  deploy: async () => (await import('./deploy.ts')).registerDeployCommand,
  exec: async () => (await import('./exec.ts')).registerExecCommand,
  logs: async () => (await import('./logs.ts')).registerLogsCommand,
  e2b: async () => (await import('./e2b.ts')).registerE2bCommand,
  mcp: async () => (await import('./mcp.ts')).registerMcpCommand,
  'ssh-config': async () => (await import('./ssh-config.ts')).registerSshConfigCommand,
  'ssh-key': async () => (await import('./ssh-key.ts')).registerSshKeyCommand,
  kubeconfig: async () => (await import('./kubeconfig.ts')).registerKubeconfigCommand,
  forward: async () => (await import('./forward.ts')).registerForwardCommand,
  s3: async () => (await import('./s3.ts')).registerS3Command,
  up: async () => (await import('./up.ts')).registerUpCommand,
  platform: async () => (await import('./up.ts')).registerPlatformCommand,
  config: async () => (await import('./config.ts')).registerConfigCommand,
  node: async () => (await import('./node.ts')).registerNodeCommand,
  admin: async () => (await import('./admin.ts')).registerAdminCommand,
  'object-store': async () => (await import('./object-store.ts')).registerObjectStoreCommand,
  migrate: async () => (await import('./migrate.ts')).registerMigrateCommand,
  images: async () => (await import('./images.ts')).registerImagesCommand,
  agent: async () => (await import('./agent.ts')).registerAgentCommand,
  package: async () => (await import('./package.ts')).registerPackageCommand,
  openapi: async () => (await import('./openapi.ts')).registerOpenApiCommand,
};

const VERSION_FLAGS: readonly string[] = ['-V', '--version'];

/** Registers the named command, none for the version, or all of them for the help and for unknown names. */
export async function registerCommands(program: Command, name: string | undefined): Promise<void> {
  if (name !== undefined && VERSION_FLAGS.includes(name)) return;
  const named = Object.entries(COMMANDS).filter(([each]) => each === name);
  for (const [, load] of named.length > 0 ? named : Object.entries(COMMANDS)) (await load())(program);
  for (const command of program.commands) addAliases(command);
}

/** The words by which other programs know these commands. */
const ALIASES: Readonly<Record<string, string>> = { ls: 'list', rm: 'remove' };

function addAliases(command: Command): void {
  const alias = ALIASES[command.name()];
  if (alias !== undefined) command.alias(alias);
  for (const child of command.commands) addAliases(child);
}
