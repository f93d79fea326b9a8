import { runCommand } from './commands.ts';

export interface Kubectl {
  /** Returns stdout; throws with kubectl's message. */
  (...args: string[]): Promise<string>;
  /** For `kubectl apply -f -` and the like: passes the text as stdin. */
  withInput(input: string, ...args: string[]): Promise<string>;
}

export function kubectlFor(program: string, kubeconfig: string): Kubectl {
  // Bypass the environment's proxy for a local cluster.
  const env = { ...process.env, KUBECONFIG: kubeconfig, NO_PROXY: '*', no_proxy: '*' };
  const withInput = async (input: string, ...args: string[]): Promise<string> =>
    (await runCommand(program, args, { env, input })).stdout;
  return Object.assign((...args: string[]) => withInput('', ...args), { withInput });
}
