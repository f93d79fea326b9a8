import type { Command } from 'commander';
import { registerAdminCommand } from './admin.ts';
import { registerAgentCommand } from './agent.ts';
import { registerConfigCommand } from './config.ts';
import { registerImagesCommand } from './images.ts';
import { registerObjectStoreCommand } from './object-store.ts';
import { registerOpenApiCommand } from './openapi.ts';
import { registerTestCommand } from './test.ts';
import { registerUpCommand } from './up.ts';

/** Commands that start or look into a platform on this machine; they bring the whole platform with them. */
export function registerPlatformCommands(program: Command): void {
  registerUpCommand(program);
  registerConfigCommand(program);
  registerAdminCommand(program);
  registerObjectStoreCommand(program);
  registerImagesCommand(program);
  registerAgentCommand(program);
  registerOpenApiCommand(program);
  registerTestCommand(program);
}
