import Basics
import Documents

/// A state chart as its SCXML file says it, with the places of its parts.
///
/// All states are in one list, in the order of the document; the first is the `<scxml>` itself.
struct SCXMLChart {
  enum Kind: Equatable {
    case chart, state, parallel, final
    case history(isDeep: Bool)
  }

  struct State {
    var kind: Kind
    var id: String
    var range: Range<Int>
    var parent = -1
    var children: [Int] = []
    var transitions: [Int] = []
    var entry: [[Action]] = []
    var exit: [[Action]] = []
    /// The transition to the states in which it starts; for a history, to those it has at first.
    var initial: Transition?
    /// What the event about its end carries.
    var data: [Parameter] = []
    /// What an observer sees, if the file says it.
    var status: String?
  }

  struct Transition {
    var source: Int
    /// What the names of its events begin with; `nil` without events.
    var events: [String]?
    var condition: SCXMLExpression?
    /// The states to which it leads; empty if it stays.
    var targets: [Int] = []
    var isInternal = false
    var actions: [Action] = []
    var range: Range<Int>
  }

  indirect enum Action {
    case assign(SCXMLAssignment)
    case send(Int)
    case cancel(SCXMLExpression, Range<Int>)
    case choice([(condition: SCXMLExpression?, actions: [Action])])
  }

  /// A value that an event carries.
  struct Parameter {
    var name: String
    var value: SCXMLExpression
  }

  /// An event that the machine sends to itself or to others.
  struct Send {
    var event: SCXMLExpression?
    var id: String?
    var delay: SCXMLExpression?
    /// Whether it is sent to the machine itself: by `<raise>`, or without a target.
    var isOwn: Bool
    var isRaised = false
    var parameters: [Parameter] = []
    var range: Range<Int>
  }

  struct Variable {
    var name: String
    var first: SCXMLExpression?
    var range: Range<Int>
  }

  var name = ""
  var states: [State] = []
  var transitions: [Transition] = []
  var sends: [Send] = []
  var variables: [Variable] = []
}

extension SCXMLChart {
  /// The namespace of SCXML.
  static let namespace = "http://www.w3.org/2005/07/scxml"
  /// The namespace of what SCXML has no word for: the attribute `status` of a state.
  static let ownNamespace = "urn:lockstep"

  func isAtomic(_ state: Int) -> Bool { states[state].kind == .final || states[state].children.isEmpty }

  /// Whether a state is within another one.
  func isDescendant(_ state: Int, of ancestor: Int) -> Bool {
    var parent = states[state].parent
    while parent > ancestor { parent = states[parent].parent }
    return parent == ancestor
  }

  /// The children that can be active, without histories.
  func parts(of state: Int) -> [Int] {
    states[state].children.filter { child in
      if case .history = states[child].kind { false } else { true }
    }
  }

  /// Returns whether a transition is for an event.
  static func matches(_ descriptors: [String], _ event: String) -> Bool {
    descriptors.contains { $0 == "*" || $0 == event || event.hasPrefix($0 + ".") }
  }

  /// Calls a closure with each expression.
  func forEachExpression(_ body: (SCXMLExpression) -> Void) {
    for transition in transitions + states.compactMap(\.initial) {
      transition.condition.map(body)
      transition.actions.forEach { forEachExpression(of: $0, body) }
    }
    for state in states {
      (state.entry + state.exit).joined().forEach { forEachExpression(of: $0, body) }
      state.data.forEach { body($0.value) }
    }
    for send in sends {
      send.event.map(body)
      send.delay.map(body)
      send.parameters.forEach { body($0.value) }
    }
    variables.forEach { $0.first.map(body) }
  }

  private func forEachExpression(of action: Action, _ body: (SCXMLExpression) -> Void) {
    switch action {
    case .assign(let assignment): body(assignment.value)
    case .send: break
    case .cancel(let id, _): body(id)
    case .choice(let branches):
      for branch in branches {
        branch.condition.map(body)
        branch.actions.forEach { forEachExpression(of: $0, body) }
      }
    }
  }

  /// The variables that an action sets.
  static func variables(setBy action: Action) -> [String] {
    switch action {
    case .assign(let assignment): [assignment.variable]
    case .send, .cancel: []
    case .choice(let branches): branches.flatMap { $0.actions.flatMap(variables(setBy:)) }
    }
  }
}
