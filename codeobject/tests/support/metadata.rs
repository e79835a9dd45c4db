// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernel metadata as MessagePack.

/// A MessagePack value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Vec<u8>),
    Bin(Vec<u8>),
    Array(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(text.as_bytes().to_vec())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(values: Vec<Value>) -> Value {
        Value::Array(values)
    }
}

/// A map with string keys.
pub(crate) fn map(pairs: Vec<(&str, Value)>) -> Value {
    Value::Map(pairs.into_iter().map(|(key, value)| (Value::from(key), value)).collect())
}

pub(crate) fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    use rmp::encode;
    match value {
        Value::Nil => encode::write_nil(out).unwrap(),
        Value::Bool(value) => encode::write_bool(out, *value).unwrap(),
        Value::Int(value) => {
            encode::write_sint(out, *value).unwrap();
        }
        Value::Float(value) => encode::write_f64(out, *value).unwrap(),
        Value::Str(bytes) => {
            encode::write_str_len(out, bytes.len() as u32).unwrap();
            out.extend(bytes);
        }
        Value::Bin(bytes) => encode::write_bin(out, bytes).unwrap(),
        Value::Array(values) => {
            encode::write_array_len(out, values.len() as u32).unwrap();
            values.iter().for_each(|value| write(value, out));
        }
        Value::Map(pairs) => {
            encode::write_map_len(out, pairs.len() as u32).unwrap();
            for (key, value) in pairs {
                write(key, out);
                write(value, out);
            }
        }
    }
}
