import { homedir, hostname } from 'node:os';
import { join } from 'node:path';

/** Environment settings of the commands that connect to a platform. */
export interface ClientEnvironment {
  url: string | undefined;
  token: string | undefined;
  workspace: string | undefined;
  team: string | undefined;
  profile: string | undefined;
  /** Variables of every sandbox API client; `SVC_URL` and `SVC_TOKEN` take precedence. */
  sandbox: { url: string | undefined; token: string | undefined };
  /** The user's own S3 key; without one, a key is created with the token. */
  s3: { accessKeyId: string | undefined; secretAccessKey: string | undefined; endpoint: string | undefined };
  /** Profiles and keys, readable by the user only. */
  configFolder: string;
  /** State for resuming interrupted transfers. */
  stateFolder: string;
  hostname: string;
  home: string;
  /** Settings files of other programs. */
  settingsFiles: { awsConfig: string; awsCredentials: string; rclone: string; s3cmd: string };
}

export function readClientEnvironment(): ClientEnvironment {
  const environment = process.env;
  const given = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const home = given('HOME') ?? homedir();
  const configHome = given('XDG_CONFIG_HOME') ?? join(home, '.config');
  return {
    url: given('SVC_URL'),
    token: given('SVC_TOKEN'),
    workspace: given('SVC_WORKSPACE'),
    team: given('SVC_TEAM'),
    profile: given('SVC_PROFILE'),
    sandbox: { url: given('SANDBOX_URL'), token: given('SANDBOX_TOKEN') },
    s3: {
      accessKeyId: given('SVC_S3_ACCESS_KEY_ID'),
      secretAccessKey: given('SVC_S3_SECRET_ACCESS_KEY'),
      endpoint: given('SVC_S3_ENDPOINT'),
    },
    configFolder: join(configHome, 'svc'),
    stateFolder: join(given('XDG_STATE_HOME') ?? join(home, '.local', 'state'), 'svc'),
    hostname: hostname(),
    home,
    settingsFiles: {
      awsConfig: given('AWS_CONFIG_FILE') ?? join(home, '.aws', 'config'),
      awsCredentials: given('AWS_SHARED_CREDENTIALS_FILE') ?? join(home, '.aws', 'credentials'),
      rclone: given('RCLONE_CONFIG') ?? join(configHome, 'rclone', 'rclone.conf'),
      s3cmd: given('S3CMD_CONFIG') ?? join(home, '.s3cfg'),
    },
  };
}
