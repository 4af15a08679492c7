import Automata
import Basics

extension [Argument] {
  /// Converts offered arguments to the forms that the machine declares; an argument that does not fit stays
  /// unchanged.
  func read(as forms: ArgumentForms?) -> [Argument] {
    guard let forms else { return self }
    return map { argument in
      guard let form = forms.forms.first(where: { $0.name == argument.name }) else { return argument }
      return Argument(argument.name, argument.value.read(as: form.kind) ?? argument.value)
    }
  }
}
