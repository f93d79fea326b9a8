import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from './button.tsx';
import { TextField, type TextFieldProps } from './field.tsx';

export interface PasswordFieldProps extends Omit<TextFieldProps, 'type' | 'trailing'> {
  /** What the button shows; a password by default. */
  noun?: string;
}

/** A password field with a reveal button, since people choose short passwords when typing blind. */
export function PasswordField({ noun = 'password', ...props }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  return (
    <TextField
      {...props}
      type={shown ? 'text' : 'password'}
      spellCheck={false}
      autoCapitalize="none"
      trailing={
        <IconButton
          size="small"
          label={`${shown ? 'Hide' : 'Show'} ${noun}`}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          {shown ? <EyeOff size={15} /> : <Eye size={15} />}
        </IconButton>
      }
    />
  );
}
