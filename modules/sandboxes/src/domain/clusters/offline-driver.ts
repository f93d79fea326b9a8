import type { AppError } from '@svc/errors';
import type {
  DriverStatus,
  FoundSandbox,
  SandboxCondition,
  SandboxDriver,
  SandboxStats,
  SaveDriver,
} from '../driver.ts';
import type { HelperConnection } from '../helper/helper-connection.ts';
import { POD_FORMAT, POD_LACKS } from './pod-capabilities.ts';

/** Stands for the driver of a cluster that cannot be reached from this node: everything is refused. */
export class OfflineDriver implements SandboxDriver {
  readonly name: string;
  readonly lacks = POD_LACKS;
  readonly pullsImages = true;
  readonly usesTemplates = true;
  readonly saves: SaveDriver = {
    format: POD_FORMAT,
    sizeBytes: () => this.#refuse(),
    save: () => this.#refuse(),
    create: () => this.#refuse(),
  };
  readonly #refusal: () => AppError;

  constructor(name: string, refusal: () => AppError) {
    this.name = name;
    this.#refusal = refusal;
  }

  status(): DriverStatus {
    return { available: false, reason: this.#refusal().message, install: null };
  }

  open(): Promise<DriverStatus> {
    return Promise.resolve(this.status());
  }

  whyUnsupported(): string | null {
    return this.#refusal().message;
  }

  create(): Promise<void> {
    return this.#refuse();
  }

  isCreated(): Promise<boolean> {
    return this.#refuse();
  }

  start(): Promise<void> {
    return this.#refuse();
  }

  connect(): Promise<HelperConnection> {
    return this.#refuse();
  }

  inspect(): Promise<SandboxCondition> {
    return this.#refuse();
  }

  stats(): Promise<SandboxStats> {
    return this.#refuse();
  }

  pause(): Promise<void> {
    return this.#refuse();
  }

  resume(): Promise<void> {
    return this.#refuse();
  }

  stop(): Promise<void> {
    return this.#refuse();
  }

  remove(): Promise<void> {
    return this.#refuse();
  }

  list(): Promise<readonly FoundSandbox[]> {
    return this.#refuse();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #refuse(): Promise<never> {
    return Promise.reject(this.#refusal());
  }
}
