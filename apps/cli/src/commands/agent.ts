import type { Command } from 'commander';
import { registerAgentBinary } from './agent/binary.ts';
import { registerAgentImage } from './agent/image.ts';
import { runAgent } from './agent/run.ts';

/**
 * `svc agent run|validate …` equals `svc-agent run|validate …`: same program, options and exit code. `binary` and
 * `image` build it.
 */
export function registerAgentCommand(program: Command): void {
  const agent = program
    .command('agent')
    .description('Run the in-cluster agent, validate its configuration, or build its binary and image')
    .usage('run|validate|schema|version|binary|image [options]')
    .helpCommand(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[arguments...]', 'Command of svc-agent: run or validate [--config PATH], schema, version')
    .action((given: string[]) => runAgent(given));
  registerAgentBinary(agent);
  registerAgentImage(agent);
}
