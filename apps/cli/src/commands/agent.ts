import type { Command } from 'commander';
import { registerAgentBinary } from './agent/binary.ts';
import { registerAgentImage } from './agent/image.ts';
import { runAgent } from './agent/run.ts';

/** `svc agent run|validate …` is `svc-agent run|validate …`: same program, options and exit code; `binary` and `image` make it. */
export function registerAgentCommand(program: Command): void {
  const agent = program
    .command('agent')
    .description('run the in-cluster agent, check its configuration, or build what is delivered of it')
    .usage('run|validate|schema|version|binary|image [options]')
    .helpCommand(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[arguments...]', 'run|validate --config PATH, schema, version: as svc-agent itself')
    .action((given: string[]) => runAgent(given));
  registerAgentBinary(agent);
  registerAgentImage(agent);
}
