import { Sandbox } from 'e2b';
import { distributionOf, type Distribution } from './figures.ts';
import type { SvcSubject } from './svc-subject.ts';

/** As users of the SDK see it; both begin with the call of `Sandbox.create()`. */
export interface E2bFigures {
  readonly subject: string;
  readonly created: Distribution;
  /** `commands.run` has returned its output. */
  readonly output: Distribution;
}

/** `Sandbox.create()` and `commands.run('echo')` of the E2B SDK, one after another. */
export async function measureE2b(subject: SvcSubject, image: string, count: number): Promise<E2bFigures> {
  const { client, name } = subject;
  const { body } = await client.call('POST', '/e2b/api-keys', { name: 'bench' });
  const { key: apiKey } = JSON.parse(body.toString()) as { key: string }; // as the SDK gets it
  const options = { apiKey, apiUrl: `${client.url}/e2b`, sandboxUrl: `${client.url}/e2b/envd` };
  const created: number[] = [];
  const output: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const begunMs = performance.now();
    const sandbox = await Sandbox.create(image, options);
    created.push(performance.now() - begunMs);
    const { stdout } = await sandbox.commands.run('echo sandbox');
    output.push(performance.now() - begunMs);
    if (stdout !== 'sandbox\n') throw new Error(`the command printed ${JSON.stringify(stdout)}`);
    await sandbox.kill();
    await subject.settle();
  }
  return { subject: name, created: distributionOf(created), output: distributionOf(output) };
}
