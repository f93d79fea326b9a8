import type { SandboxesConfig } from '../config.ts';
import type { Isolation } from './driver.ts';

export type IsolationSetting = SandboxesConfig['isolation'];

/** What a sandbox that asks for nothing gets. */
export function defaultIsolation(setting: IsolationSetting, hasGvisor: boolean): Isolation {
  if (setting === 'auto') return hasGvisor ? 'gvisor' : 'namespaces';
  return setting;
}

/** Whether programs inside call the kernel of the machine that the driver runs on. */
export function sharesKernel(isolation: Isolation): boolean {
  return isolation !== 'gvisor';
}

/** The isolation of sandboxes by the configuration and what the driver can do now. */
export class IsolationPolicy {
  readonly #setting: IsolationSetting;
  readonly #driver: { supports(isolation: Isolation): boolean };

  constructor(setting: IsolationSetting, driver: { supports(isolation: Isolation): boolean }) {
    this.#setting = setting;
    this.#driver = driver;
  }

  get default(): Isolation {
    return defaultIsolation(this.#setting, this.#driver.supports('gvisor'));
  }

  /** What a sandbox may have here: where the operator demands gVisor, nobody gets around it. */
  allowed(): Isolation[] {
    const offered: readonly Isolation[] = this.#setting === 'gvisor' ? ['gvisor'] : ['namespaces', 'gvisor'];
    return offered.filter((each) => this.#driver.supports(each));
  }

  /** What was asked for stands for; whether it may be had is `allows`. */
  choose(wanted: Isolation | 'default'): Isolation {
    return wanted === 'default' ? this.default : wanted;
  }

  allows(isolation: Isolation): boolean {
    return this.allowed().includes(isolation);
  }
}
